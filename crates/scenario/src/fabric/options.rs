//! What can be asked of this scenario alone.

use serde::{Deserialize, Serialize};

use crate::check::Verify;
use crate::names::names;
use crate::options::Options;

/// A mistake that a worker makes, to see it refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Mistake {
    /// None.
    #[default]
    None,
    /// It alters a byte of a handle before it imports it.
    Altered,
    /// It lets go of its memory before others import it.
    Gone,
}

names!(Mistake { None = "none", Altered = "altered", Gone = "gone", });

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fabric {
    pub(super) options: Options,
    pub(super) mistake: Mistake,
}

impl Fabric {
    /// The scenario with these options. Each worker verifies all buffers.
    #[must_use]
    pub fn new(options: Options, mistake: Mistake) -> Self {
        Self { options: Options { verify: Verify::All, ..options }, mistake }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_have_names() {
        assert!(Mistake::NAMES.iter().all(|name| name.parse::<Mistake>().unwrap().to_string() == *name));
        let unknown = "lost".parse::<Mistake>().unwrap_err().to_string();
        assert_eq!(unknown, "\"lost\" is unknown; use none or altered or gone");
    }
}
