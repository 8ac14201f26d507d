//! Where a kernel is launched.

use std::time::Duration;

use peermap_driver::{Driver, with_causes};
use peermap_sim::Checks;

use super::args::Launch;
use crate::backend::{self, Chosen};
use crate::refusal::Refusal;
use crate::show;

/// A driver that is ready, and what is known about it.
pub(super) struct Place {
    pub(super) driver: Box<dyn Driver>,
    pub(super) backend: &'static str,
    pub(super) profile: Option<String>,
    /// How long to wait for a kernel, where the driver waits without end.
    pub(super) patience: Option<Duration>,
}

impl Place {
    /// Opens the backend that was asked for, or the simulator in place of a real driver that turns out to have no device.
    pub(super) fn open(arguments: &Launch) -> Result<Self, Refusal> {
        let deadline = Duration::from_secs(arguments.deadline);
        let checks = arguments.check;
        let chosen = backend::choose(&arguments.place)?.able_to(checks)?;
        match Self::on(&chosen, deadline, checks) {
            Err(refusal) if matches!(chosen, Chosen::Cuda { may_fall_back: true }) => {
                show::note(&format!("simulating: {}", with_causes(&*refusal.error)));
                let profile = backend::machine_profile(None).map_err(Refusal::unexpected)?;
                Self::on(&Chosen::Sim(profile), deadline, checks)
            }
            opened => opened,
        }
    }

    fn on(chosen: &Chosen, deadline: Duration, checks: Checks) -> Result<Self, Refusal> {
        let driver = chosen.driver_for_kernels(deadline, checks)?;
        Ok(match chosen {
            Chosen::Cuda { .. } => Self { driver, backend: "cuda", profile: None, patience: Some(deadline) },
            Chosen::Sim(profile) => Self { driver, backend: "sim", profile: Some(profile.clone()), patience: None },
        })
    }
}
