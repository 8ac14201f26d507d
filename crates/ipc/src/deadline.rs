//! How long a wait may take.

use std::time::{Duration, Instant};

use crate::stage;

/// The moment at which a wait gives up.
///
/// A deadline is fixed when it is made, so one value can be handed through several calls that together must not take
/// longer. A call whose deadline has passed already still tries once, without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Waits for as long as it takes.
    pub const NEVER: Self = Self(None);

    /// The moment `duration` from now. A moment that the clock cannot express counts as [`Deadline::NEVER`].
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        Self(stage::now().checked_add(duration))
    }

    /// The time that is left: zero once the deadline has passed, `None` for [`Deadline::NEVER`].
    #[must_use]
    pub fn remaining(self) -> Option<Duration> {
        self.0.map(|moment| moment.saturating_duration_since(stage::now()))
    }

    /// The moment itself.
    pub(crate) fn moment(self) -> Option<Instant> {
        self.0
    }

    /// The one of two that passes first.
    #[must_use]
    pub fn or_earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(one), Some(two)) => Self(Some(one.min(two))),
            (one, two) => Self(one.or(two)),
        }
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.remaining() == Some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_has_no_remaining_time_and_never_passes() {
        assert_eq!(Deadline::NEVER.remaining(), None);
        assert!(!Deadline::NEVER.has_passed());
    }

    #[test]
    fn a_deadline_of_zero_has_passed_at_once() {
        assert!(Deadline::after(Duration::ZERO).has_passed());
    }

    #[test]
    fn a_deadline_beyond_the_clock_is_never() {
        assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
    }

    #[test]
    fn the_earlier_of_two_is_the_one_that_passes_first() {
        let [soon, late] = [1, 2].map(|seconds| Deadline::after(Duration::from_secs(seconds)));
        assert_eq!([soon.or_earlier(late), late.or_earlier(soon), soon.or_earlier(Deadline::NEVER)], [soon; 3]);
        assert_eq!(Deadline::NEVER.or_earlier(Deadline::NEVER), Deadline::NEVER);
    }

    #[test]
    fn remaining_time_is_at_most_what_was_asked_for() {
        let remaining = Deadline::after(Duration::from_secs(3600)).remaining();
        assert!(remaining <= Some(Duration::from_secs(3600)));
        assert!(remaining > Some(Duration::from_secs(3000)));
    }
}
