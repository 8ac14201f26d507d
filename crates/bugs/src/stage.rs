//! Where entries are played.

use peermap_driver::Driver;
use peermap_model::Profile;
use peermap_sim::{MachineOptions, SimMachine};

use crate::machine::Machine;
use crate::play::Launch;
use crate::trouble::Trouble;

/// The simulated machine that entries are played on: a measured one.
const PROFILE: &str = "h200-x2";

/// Loads the real driver of this host.
pub type Open = fn() -> Result<Box<dyn Driver>, String>;

/// Where an entry is played, and what chance it has.
#[derive(Debug, Clone)]
pub struct Stage {
    open: Option<Open>,
    launch: Launch,
    seed: u64,
}

impl Stage {
    /// The simulator.
    #[must_use]
    pub const fn simulated(launch: Launch, seed: u64) -> Self {
        Self { open: None, launch, seed }
    }

    /// The real driver. It serves one process for each OS process.
    #[must_use]
    pub const fn real(open: Open, launch: Launch, seed: u64) -> Self {
        Self { open: Some(open), launch, seed }
    }

    /// Whether this is a real driver.
    #[must_use]
    pub const fn is_real(&self) -> bool {
        self.open.is_some()
    }

    /// How further processes are started.
    pub(crate) const fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Numbers that are the same for the same seed.
    pub(crate) fn random(&self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed)
    }

    /// The machine: that of this host, or a simulated one.
    pub(crate) fn machine(&self) -> Result<Machine<'_>, Trouble> {
        self.machine_or(PROFILE)
    }

    /// The machine: that of this host, or one of a profile.
    pub(crate) fn machine_or(&self, profile: &str) -> Result<Machine<'_>, Trouble> {
        match self.open {
            Some(open) => Ok(Machine::real(open, &self.launch)),
            None => self.simulating(Profile::named(profile)?, OPTIONS),
        }
    }

    /// A simulated machine, wherever the entry is played.
    pub(crate) fn simulating(&self, profile: Profile, options: MachineOptions) -> Result<Machine<'_>, Trouble> {
        Ok(Machine::simulated(SimMachine::new(profile, options)?, &self.launch))
    }
}

/// Work that nobody waits for never runs by itself: what an entry does must not hang on how long it takes.
pub(crate) const OPTIONS: MachineOptions = MachineOptions {
    policy: peermap_model::Policy::Measured,
    grace: peermap_model::Grace::Never,
    host_memory: None,
    checks: peermap_sim::Checks::NONE,
};
