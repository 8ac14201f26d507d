//! How often what is chosen.

/// How often each group of steps is chosen, in relation to the others. A group of weight 0 does not occur.
///
/// Whether there are several processes or devices is no weight: a [`Generator`](super::Generator) is told how many.
///
/// ```
/// let weights = peermap_trace::Weights::default().legacy(0).events(20);
/// assert_eq!((weights.legacy, weights.events), (0, 20));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// Creation, release and properties of physical memory.
    pub physical: u32,
    /// Reservations, mappings and rights.
    pub mapping: u32,
    /// Fills, copies and launches, each with the synchronisation that waits for it.
    pub copies: u32,
    /// Questions about addresses and devices.
    pub queries: u32,
    /// Descriptors: export, import, send, close.
    pub descriptors: u32,
    /// Memory from `cuMemAlloc` and legacy handles to it.
    pub legacy: u32,
    /// Memory pools.
    pub pools: u32,
    /// Multicast: teams of devices. Nothing of it unless it is asked for: on hardware these calls are closed.
    pub multicast: u32,
    /// Streams and events, those for other processes included.
    pub events: u32,
    /// Contexts: further ones, the stack, destruction, peer access.
    pub contexts: u32,
    /// Processes that exit or are killed.
    pub ends: u32,
    /// Kernels that reach what is not there, at most one in each process. It goes on for a few steps after that.
    pub faults: u32,
    /// In how many of a hundred cases work is *not* waited for. What comes of it then is a matter of timing.
    pub in_flight: u32,
    /// In how many of a hundred releases the handle is used once more, on which the real driver crashes.
    pub crashes: u32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            physical: 200,
            mapping: 380,
            copies: 180,
            queries: 80,
            descriptors: 160,
            legacy: 120,
            pools: 120,
            multicast: 0,
            events: 80,
            contexts: 20,
            ends: 4,
            faults: 1,
            in_flight: 0,
            crashes: 0,
        }
    }
}

macro_rules! builder {
    ($($name:ident)*) => {
        impl Weights {
            $(
                #[doc = concat!("The same with another weight of `", stringify!($name), "`.")]
                #[must_use]
                pub const fn $name(mut self, weight: u32) -> Self {
                    self.$name = weight;
                    self
                }
            )*

            /// The names of the weights.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The same with another weight of that name. `None`: there is no such name.
            #[must_use]
            pub fn with(self, name: &str, weight: u32) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(self.$name(weight)),)*
                    _ => None,
                }
            }
        }
    };
}

builder! { physical mapping copies queries descriptors legacy pools multicast events contexts ends faults in_flight crashes }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_is_set_by_its_name() {
        let zero = Weights::NAMES.iter().fold(Weights::default(), |weights, name| weights.with(name, 0).unwrap());
        assert_eq!(zero.physical(1).physical, 1);
        assert_eq!((zero.mapping, zero.faults, zero.crashes), (0, 0, 0));
        assert_eq!(Weights::default().with("graphs", 1), None);
    }
}
