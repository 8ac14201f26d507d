//! The one place where choices are made that the driver's rules leave open.

/// How open choices are made: placement and reuse of addresses and handle values, order of queued work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Policy {
    /// As the measured driver makes them, as far as is known: upwards, oldest first, nothing recycled early.
    Measured,
    /// As badly as the rules allow, by a seed: addresses and handle values recycled at once, any legal order.
    Hostile {
        /// Decides every choice.
        seed: u64,
    },
}

/// Makes the open choices of one machine or one process, by its policy.
#[derive(Debug, Clone)]
pub struct Chooser {
    policy: Policy,
    random: fastrand::Rng,
}

impl Chooser {
    /// A chooser. `stream` tells several choosers of one seed apart, such as those of several processes.
    #[must_use]
    pub fn new(policy: Policy, stream: u64) -> Self {
        let seed = match policy {
            Policy::Measured => 0,
            Policy::Hostile { seed } => seed,
        };
        Self { policy, random: fastrand::Rng::with_seed(seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15)) }
    }

    /// Whether values that were given back are to be handed out again as soon as possible.
    #[must_use]
    pub const fn recycles(&self) -> bool {
        matches!(self.policy, Policy::Hostile { .. })
    }

    /// Picks one of `count` equally legal choices; the measured policy takes the first.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    #[must_use]
    pub fn pick(&mut self, count: usize) -> usize {
        assert!(count > 0, "a choice needs something to choose from");
        match self.policy {
            Policy::Measured => 0,
            Policy::Hostile { .. } => self.random.usize(..count),
        }
    }

    /// A byte that nobody can foresee without the seed.
    #[must_use]
    pub fn byte(&mut self) -> u8 {
        self.random.u8(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_policy_takes_the_first() {
        let mut chooser = Chooser::new(Policy::Measured, 7);
        assert_eq!((0..100).map(|_| chooser.pick(9)).max(), Some(0));
    }

    #[test]
    fn a_seed_decides_every_choice() {
        let draw = |seed, stream| {
            let mut chooser = Chooser::new(Policy::Hostile { seed }, stream);
            (0..32).map(|_| chooser.pick(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(2, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
    }
}
