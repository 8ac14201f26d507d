//! What can be asked of this scenario alone.

use crate::content::Fill;
use crate::error::UsageError;
use crate::options::Options;

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multicast {
    /// What is asked of every scenario.
    pub(super) options: Options,
    /// Whether one worker process is all ranks.
    pub(super) one_process: bool,
    /// A rank that adds no device, while the others do not wait for it before they bind: a mistake, which leaves them waiting in
    /// the driver.
    pub(super) absent: Option<u32>,
}

impl Multicast {
    /// The scenario with these options. A rank writes its number; a device is added to a team once.
    #[must_use]
    pub fn new(options: Options, one_process: bool, absent: Option<u32>) -> Self {
        let options = Options { processes_per_device: 1, fill: Some(Fill::Id), ..options };
        Self { options, one_process, absent }
    }

    /// Refuses the absence of a rank that there is not.
    pub(super) fn check_absent(&self, ranks: u32) -> Result<(), UsageError> {
        match self.absent {
            Some(rank) if rank >= ranks => Err(UsageError::NoSuchRank { rank, ranks }),
            _ => Ok(()),
        }
    }
}

impl Default for Multicast {
    fn default() -> Self {
        Self::new(Options::default(), false, None)
    }
}
