//! What can be asked of this scenario alone.

use crate::names::names;
use crate::relay::Relay;

/// By what workers open the buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Handles {
    /// The descriptor of the pool and the bytes of the pointer, as in NVIDIA's sample.
    #[default]
    Pool,
    /// Legacy handles, which is a mistake: memory of a pool has none, and the driver refuses to export it.
    Legacy,
}

names!(Handles { Pool = "pool", Legacy = "legacy", });

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PoolIpc {
    /// What is asked of every scenario that hands buffers round.
    pub relay: Relay,
    /// By what workers open the buffers.
    pub handles: Handles,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_have_names() {
        assert!(Handles::NAMES.iter().all(|name| name.parse::<Handles>().unwrap().to_string() == *name));
        assert_eq!("fd".parse::<Handles>().unwrap_err().to_string(), "\"fd\" is unknown; use pool or legacy");
    }
}
