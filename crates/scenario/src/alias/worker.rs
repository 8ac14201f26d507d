//! The worker's story.

use peermap_driver::DriverError;
use peermap_report::AliasUse;
use serde::{Deserialize, Serialize};

use super::Case;
use super::kernels::Kernels;
use super::stage::Stage;
use super::twice::Twice;
use crate::kernels::ALIAS;
use crate::messages::{Done, Step};
use crate::task;
use crate::worker::{Station, WorkerError};
use crate::workplace::{NON_BLOCKING, load};

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    /// Whether what is undefined must be reported.
    pub(crate) watched: bool,
}

/// Does the work of one worker.
pub(crate) fn work(station: &mut Station<'_>, task: &Task) -> Result<Done, WorkerError> {
    let stage = set_up(station, task)?;
    let mut uses = Vec::new();
    for case in Case::of_worker(station.worker, station.workers) {
        station.begin(Step::Alias(*case))?;
        let told = station.phase("use", |_| play(&stage, *case, task.watched))?;
        uses.push(told);
    }
    station.begin(Step::Teardown)?;
    // After a report no driver call of this process succeeds, and its end gives back what it had.
    if uses.iter().all(|told| told.report.is_none()) {
        station.phase("teardown", |_| Ok(stage.clear_away()?))?;
    }
    let verified = 8 * uses.iter().filter(|told| told.defined).map(|told| told.as_written).sum::<u64>();
    let phases = std::mem::take(&mut station.phases);
    Ok(Done { phases, verified, alias_uses: uses, ..Done::default() })
}

fn set_up<'d>(station: &mut Station<'d>, task: &Task) -> Result<Stage<'d>, WorkerError> {
    let driver = station.driver;
    station.begin(Step::Context)?;
    let (context, streams) = station.phase("context", |station| {
        let context = driver.ctx_create(0, station.device)?;
        let stream = || driver.stream_create(NON_BLOCKING);
        Ok((context, [stream()?, stream()?, stream()?]))
    })?;
    station.begin(Step::Module)?;
    let kernels = station.phase("module", |station| {
        load(station, &task.work, &ALIAS, |image, options| Kernels::load(driver, image, options))
    })?;
    station.begin(Step::Reserve)?;
    station.phase("map", |station| {
        let memory = Twice::new(driver, station.device, task.work.size)?;
        Ok(Stage::new(driver, context, streams, kernels, memory)?)
    })
}

/// Plays a case, and judges what came of it as far as it is defined or watched.
fn play(stage: &Stage<'_>, case: Case, watched: bool) -> Result<AliasUse, WorkerError> {
    let (defined, words) = (case.is_defined(), stage.memory.words());
    let told = AliasUse { case: case.to_string(), defined, words, ..AliasUse::default() };
    let reading = match stage.play(case) {
        Err(DriverError::Finding { what }) if !defined => return Ok(AliasUse { report: Some(what), ..told }),
        reading => reading?,
    };
    if defined && reading.written != words {
        return Err(WorkerError::NotAsWritten { case, wrong: words - reading.written, words });
    }
    // On a host with no time left one gives up waiting for the other: then nothing undefined happened.
    let apart = case == Case::EarlyReader && !reading.together;
    if !defined && watched && !apart {
        return Err(WorkerError::Unreported { case });
    }
    Ok(AliasUse { as_written: reading.written, as_before: reading.before, apart, ..told })
}
