//! What follows the last step: verification, measurements, teardown.

use std::time::Instant;

use peermap_driver::{Driver, Result};
use peermap_report::Mismatch;

use super::{buffer_of, last_author, measure};
use crate::check::Verify;
use crate::device_kernels::Buffer;
use crate::messages::{Done, Step};
use crate::task::Task;
use crate::timing::{median, ms_since};
use crate::transport::Meet;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// All buffers of a run, as one worker has them.
pub(crate) trait Memory {
    /// The buffer of a number.
    fn buffer(&self, number: u32) -> Buffer;

    /// Gives all of them back. Context and stream are still there; nothing is queued.
    fn give_back(self, driver: &dyn Driver) -> Result<()>;
}

/// A worker that has filled its last buffer. Work on the buffers has ended, that of all others too.
pub(crate) struct Filled<'d, 't, M> {
    pub(crate) task: &'t Task,
    pub(crate) workplace: Workplace<'d>,
    pub(crate) memory: M,
    /// How many steps there were.
    pub(crate) steps: u32,
    /// The rates of its fill kernels that it took the time of, in GB/s.
    pub(crate) rates: Vec<f64>,
}

impl<M: Memory> Filled<'_, '_, M> {
    /// Verifies, measures if that is asked for, and gives everything back.
    pub(crate) fn conclude(
        self,
        station: &mut Station<'_>,
        all: &mut dyn Meet,
    ) -> std::result::Result<Done, WorkerError> {
        let (verified, mismatch) = station.phase("verify", |station| self.verify(station))?;
        let measured = match self.task.measure {
            true => Some(measure::rates(station, all, &self.workplace, self.memory.buffer(station.worker))?),
            false => None,
        };

        station.begin(Step::Teardown)?;
        let begun = Instant::now();
        let Self { workplace, memory, rates, .. } = self;
        memory.give_back(station.driver)?;
        // The parent gives back its own meanwhile. Of a run that failed it keeps everything to the end, for the report.
        if mismatch.is_none() {
            station.begin(Step::ClearAway)?;
        }
        workplace.clear_away()?;
        station.phases.add("teardown", ms_since(begun));

        let phases = std::mem::take(&mut station.phases);
        Ok(Done { phases, verified, fill_gb_s: median(rates), mismatch, measured, ..Done::default() })
    }

    /// Verifies the own buffer, and then the others if that is asked for, up to the first that is wrong. Gives how many bytes
    /// are right.
    fn verify(&self, station: &mut Station<'_>) -> std::result::Result<(u64, Option<Mismatch>), WorkerError> {
        let (worker, workers, kernels) = (station.worker, station.workers, &self.workplace.kernels);
        let count = match self.task.verify {
            Verify::Own => 1,
            Verify::All => workers,
        };
        let mut verified = 0;
        for step in 0..count {
            let number = buffer_of(worker, step, workers);
            station.begin(Step::Verify(number))?;
            let (buffer, author) = (self.memory.buffer(number), last_author(number, workers, self.steps));
            let difference = self.task.verify_on.look(station.driver, kernels, buffer, author)?;
            if let Some(difference) = difference {
                return Ok((verified, Some(difference.seen_by(worker, number))));
            }
            verified += buffer.size.get();
        }
        Ok((verified, None))
    }
}
