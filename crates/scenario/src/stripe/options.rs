//! What can be asked of this scenario alone.

use peermap_driver::ByteSize;
use serde::{Deserialize, Serialize};

use crate::error::UsageError;
use crate::names::names;
use crate::options::Options;

/// The fewest stripes of a vector: half of them are there before the last device joins.
pub(super) const FEWEST: u64 = 2;
/// The most: each is a descriptor that every worker gets, for each of three vectors.
const MOST: u64 = 256;

/// Who adds how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Balance {
    /// All the same.
    #[default]
    Even,
    /// Each as much as its device can.
    ByDevice,
    /// Each the next piece, as long as there are pieces.
    Dynamic,
}

names!(Balance { Even = "even", ByDevice = "by-device", Dynamic = "dynamic", });

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripe {
    /// What is asked of every scenario; the size is that of a vector.
    pub options: Options,
    /// The size of a stripe.
    pub stripe: ByteSize,
    /// Who adds how much.
    pub balance: Balance,
}

impl Stripe {
    /// How many stripes a vector has.
    pub(super) fn stripes(&self) -> u32 {
        let stripes = self.options.size.get().checked_div(self.stripe.get()).unwrap_or(0);
        u32::try_from(stripes).unwrap_or(u32::MAX)
    }

    /// Refuses stripes that cannot be.
    pub(super) fn check_stripes(&self) -> Result<(), UsageError> {
        let (size, stripe) = (self.options.size, self.stripe);
        if stripe.is_zero() {
            return Err(UsageError::ZeroStripe);
        }
        let fits = size.is_multiple_of(stripe) && (FEWEST..=MOST).contains(&u64::from(self.stripes()));
        if fits { Ok(()) } else { Err(UsageError::Stripes { size, stripe, fewest: FEWEST, most: MOST }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_some_whole_stripes() {
        let asked = |size, stripe| {
            let options = Options { size: ByteSize::mib(size), ..Options::default() };
            Stripe { options, stripe: ByteSize::mib(stripe), balance: Balance::Even }.check_stripes()
        };
        assert!(matches!(asked(8, 0), Err(UsageError::ZeroStripe)));
        for (size, stripe) in [(2, 2), (7, 2), (514, 2), (2, 4)] {
            assert!(matches!(asked(size, stripe), Err(UsageError::Stripes { .. })), "{size} {stripe}");
        }
        assert!(asked(4, 2).is_ok() && asked(512, 2).is_ok());
    }

    #[test]
    fn names_read_back() {
        assert!(Balance::NAMES.iter().all(|name| name.parse::<Balance>().unwrap().to_string() == *name));
    }
}
