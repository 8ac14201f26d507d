//! A process from its start until it runs, until its driver is initialised, and until it has a context.

use std::time::Instant;

use peermap_driver::Uuid;

use crate::clock::nanoseconds;
use crate::error::BenchError;
use crate::partner::{Order, Partner};
use crate::rig::{Crew, Rig};
use crate::suite::{Group, Output, Planned};

pub(super) fn group<'r>(rig: &'r Rig<'_>) -> Planned<'r> {
    Planned {
        outputs: ["start_to_running", "start_to_initialised", "start_to_context"].map(Output::time).to_vec(),
        parameters: Vec::new(),
        make: Box::new(move || {
            let driver = rig.pair()?.driver()?;
            let device = driver.device_get_uuid(driver.device_get(0)?)?;
            Ok(Box::new(Start { crew: rig.crew, device }))
        }),
    }
}

struct Start<'r> {
    crew: &'r dyn Crew,
    device: Uuid,
}

impl Group for Start<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let start = Instant::now();
        let mut partner = Partner::start(self.crew, true)?;
        let running = nanoseconds(start.elapsed());
        partner.obey(&Order::Init)?;
        let initialised = nanoseconds(start.elapsed());
        partner.obey(&Order::Context { device: self.device })?;
        Ok(vec![running, initialised, nanoseconds(start.elapsed())])
    }
}
