//! What can be asked of this scenario alone.

use crate::content::Fill;
use crate::error::UsageError;
use crate::options::Options;
use crate::share_as::ShareAs;

/// How the team is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Team {
    /// Whether one worker process is all ranks.
    pub one_process: bool,
    /// A rank that adds no device, while the others do not wait for it before they bind: a mistake, which leaves them waiting in
    /// the driver.
    pub absent: Option<u32>,
    /// As what workers get the multicast object.
    pub share_as: ShareAs,
    /// Whether a size that is no multiple of the team's granularity is padded, instead of refused.
    pub round_up: bool,
}

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multicast {
    /// What is asked of every scenario.
    pub(super) options: Options,
    pub(super) team: Team,
}

impl Multicast {
    /// The scenario with these options. A rank writes its number; a device is added to a team once.
    #[must_use]
    pub fn new(options: Options, team: Team) -> Self {
        let options = Options { processes_per_device: 1, fill: Some(Fill::Id), ..options };
        Self { options, team }
    }

    /// Refuses the absence of a rank that there is not.
    pub(super) fn check_absent(&self, ranks: u32) -> Result<(), UsageError> {
        match self.team.absent {
            Some(rank) if rank >= ranks => Err(UsageError::NoSuchRank { rank, ranks }),
            _ => Ok(()),
        }
    }
}

impl Default for Multicast {
    fn default() -> Self {
        Self::new(Options::default(), Team::default())
    }
}
