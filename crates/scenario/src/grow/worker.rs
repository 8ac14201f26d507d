//! The worker's story.

use peermap_driver::{ByteSize, Intercepted};
use peermap_report::{Grown, Mismatch};
use serde::{Deserialize, Serialize};

use super::check::Contents;
use super::range::Place;
use super::vector::{Growth, Vector};
use crate::messages::{Done, Step};
use crate::overseer::{Overseen, Overseer};
use crate::task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    /// The size of a chunk.
    pub(crate) chunk: ByteSize,
    /// How many there are when the vector is largest.
    pub(crate) chunks: u32,
    pub(crate) kv_cache: bool,
}

/// The size at which the vector has to move for the first time, and the room that it has before.
const MOVES_AT: u32 = 4;
const FIRST_ROOM: u32 = 2;

/// Does the work of one worker.
pub(crate) fn work(station: &mut Station<'_>, task: &Task) -> Result<Done, WorkerError> {
    let workplace = Workplace::set_up(station, &task.work)?;
    let overseen: Overseen<'_> = Intercepted::new(station.driver, Overseer::default());
    let place = Place { driver: &overseen, device: station.device, chunk: task.chunk };
    station.begin(Step::Reserve)?;
    let vector = Vector::new(place, FIRST_ROOM)?;
    let (driver, worker, verify_on) = (station.driver, station.worker, task.work.verify_on);
    let contents = Contents {
        driver,
        workplace: &workplace,
        verify_on,
        worker,
        authors: Vec::new(),
        fills: 0,
        verified: 0,
        verified_old: 0,
        mismatch: None,
    };
    let mut life = Life { task, overseer: overseen.interceptor(), vector, contents, told: Grown::default() };
    life.grow_up(station)?;
    life.shrink_and_grow(station)?;
    if task.kv_cache {
        life.free_and_gather(station)?;
    }
    let (told, verified, mismatch) = life.end(station)?;
    station.phase("teardown", |_| Ok(workplace.clear_away()?))?;
    let phases = std::mem::take(&mut station.phases);
    Ok(Done { phases, verified, mismatch, grown: Some(told), ..Done::default() })
}

/// The life of a vector.
struct Life<'a, 'd> {
    task: &'a Task,
    overseer: &'a Overseer,
    vector: Vector<'a>,
    contents: Contents<'a, 'd>,
    told: Grown,
}

impl<'a, 'd: 'a> Life<'a, 'd> {
    /// Doubles up to its size.
    fn grow_up(&mut self, station: &mut Station<'_>) -> Result<(), WorkerError> {
        let mut count = 1;
        while self.vector.len() < self.task.chunks {
            match self.vector.len() {
                _ if count == MOVES_AT => self.grow_elsewhere(station, count)?,
                // There it has more room than it needs.
                MOVES_AT => self.grow_after_refusals(station, count)?,
                _ => self.grow(station, count)?,
            }
            self.fill_and_verify(station)?;
            count = count.saturating_mul(2).min(self.task.chunks);
        }
        Ok(())
    }

    fn grow(&mut self, station: &mut Station<'_>, count: u32) -> Result<(), WorkerError> {
        station.begin(Step::Grow(count))?;
        let growth = station.phase("grow", |_| Ok(self.vector.grow_to(count)?))?;
        self.count(growth);
        Ok(())
    }

    /// Grows while something else lies behind.
    fn grow_elsewhere(&mut self, station: &mut Station<'_>, count: u32) -> Result<(), WorkerError> {
        let (driver, all, chunk) = (station.driver, self.vector.range().all(), self.task.chunk);
        let behind = driver.mem_address_reserve(chunk, ByteSize::ZERO, all.at(all.size.get()), 0)?;
        self.grow_after_refusals(station, count)?;
        Ok(driver.mem_address_free(behind, chunk)?)
    }

    /// Grows; and before that succeeds, each of its calls is refused once.
    fn grow_after_refusals(&mut self, station: &mut Station<'_>, count: u32) -> Result<(), WorkerError> {
        let mut call = 1;
        loop {
            station.begin(Step::Refuse(call))?;
            self.overseer.refuse(u64::from(call));
            let grown = self.vector.grow_to(count);
            if !self.overseer.has_refused() {
                self.count(grown?);
                return Ok(());
            }
            self.told.refused += 1;
            if grown.is_ok() || self.vector.len() >= count {
                return Err(WorkerError::RefusalLost { call });
            }
            self.verify(station)?;
            call += 1;
        }
    }

    /// Shrinks to half and grows again.
    fn shrink_and_grow(&mut self, station: &mut Station<'_>) -> Result<(), WorkerError> {
        let half = self.task.chunks / 2;
        station.begin(Step::Shrink(half))?;
        station.phase("grow", |_| Ok(self.vector.shrink_to(half)?))?;
        self.contents.authors.truncate(half as usize);
        self.verify(station)?;
        self.grow(station, self.task.chunks)?;
        self.fill_and_verify(station)
    }

    /// Frees every second chunk, and maps the others in a row.
    fn free_and_gather(&mut self, station: &mut Station<'_>) -> Result<(), WorkerError> {
        station.begin(Step::Free)?;
        for number in (1..self.vector.len()).step_by(2) {
            station.phase("grow", |_| Ok(self.vector.free(number)?))?;
            self.contents.authors[number as usize] = None;
        }
        self.verify(station)?;
        self.told.fragmentation_before_percent = Some(self.vector.range().fragmentation_percent(self.vector.len()));
        station.begin(Step::Gather)?;
        station.phase("gather", |_| Ok(self.vector.gather()?))?;
        self.contents.authors.retain(Option::is_some);
        self.told.fragmentation_after_percent = Some(self.vector.range().fragmentation_percent(self.vector.len()));
        self.verify(station)
    }

    /// Gives up old addresses, uses what there is as one buffer, and gives it back.
    fn end(mut self, station: &mut Station<'_>) -> Result<(Grown, u64, Option<Mismatch>), WorkerError> {
        station.begin(Step::Forget)?;
        self.vector.forget_old()?;
        self.verify(station)?;
        station.phase("verify", |_| Ok(self.contents.use_as_one(&self.vector)?))?;
        station.begin(Step::Teardown)?;
        station.phase("teardown", |_| Ok(self.vector.give_back()?))?;
        let address_high_water = self.vector.high_water().get();
        let (chunks, chunk) = (self.task.chunks, self.task.chunk.get());
        let (copies, verified_old) = (self.overseer.copies(), self.contents.verified_old);
        let told = Grown { chunks, chunk, copies, verified_old, address_high_water, ..self.told };
        if told.copies > 0 {
            return Err(WorkerError::Copied { copies: told.copies });
        }
        Ok((told, self.contents.verified, self.contents.mismatch))
    }

    fn fill_and_verify(&mut self, station: &mut Station<'_>) -> Result<(), WorkerError> {
        station.begin(Step::Fill(self.contents.fills))?;
        station.phase("fill", |_| Ok(self.contents.fill_added(&self.vector)?))?;
        self.verify(station)
    }

    fn verify(&mut self, station: &mut Station<'_>) -> Result<(), WorkerError> {
        station.begin(Step::VerifyChunks)?;
        station.phase("verify", |_| Ok(self.contents.verify(&self.vector)?))
    }

    const fn count(&mut self, growth: Growth) {
        match growth {
            Growth::InPlace => self.told.in_place += 1,
            Growth::Extended => self.told.extended += 1,
            Growth::Moved => self.told.moved += 1,
        }
    }
}
