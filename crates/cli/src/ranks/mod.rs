//! `peermap run fabric --transport mpi`: each rank of a job that `mpirun` started is one worker, and nothing is spawned.
//!
//! | file | what it does |
//! | --- | --- |
//! | `engine.rs` | MPI as the transport of handles, with deadlines |
//! | `simulated.rs` | the simulated machine of a job: a thread of rank 0, which the others find by a private address |

mod engine;
mod simulated;

use std::time::Instant;

use peermap_cuda::CudaDriver;
use peermap_driver::{Driver, with_causes};
use peermap_report::{Event, ExitCode, RunReport, event_line};
use peermap_scenario::fabric::{Fabric, Rank, RankEnd, report_of_ranks, work_as_rank};
use peermap_sim::Checks;

use crate::backend::{self, Chosen};
use crate::hidden::executable;
use crate::refusal::Refusal;
use crate::run::{self as args, Common, present};
use crate::{provenance, show};
use engine::Engine;

/// Does the work of this rank. Rank 0 prints the result of all; every rank ends with its exit code.
pub(crate) fn run(arguments: &args::Fabric) -> ExitCode {
    let common = arguments.common();
    let Some(mut engine) = Engine::start() else {
        let again = Refusal::unexpected(anyhow::anyhow!("MPI does not start in this process"));
        return again.end(common.json);
    };
    let begun = Instant::now();
    // What is wrong with the arguments is so for all ranks; one says it.
    let chosen = || backend::choose(&common.place)?.able_to(common.check);
    let (fabric, chosen) = match arguments.of_rank().and_then(|fabric| Ok((fabric, chosen()?))) {
        Ok(decided) => decided,
        Err(refusal) if engine.rank() == 0 => return refusal.end(common.json),
        Err(refusal) => return refusal.code,
    };
    let worked = work(&chosen, common, &fabric, &mut engine);
    let end = match worked.and_then(|end| Ok(serde_json::to_vec(&end)?)) {
        Ok(end) => end,
        Err(error) => {
            show::complaint(&format!("rank {}: {}", engine.rank(), with_causes(&*error)));
            engine.abort(ExitCode::Unexpected)
        }
    };
    let code = engine.gather(&end).map(|ends| conclude(&chosen, common, &fabric, &ends, begun));
    engine.agree(code.unwrap_or(ExitCode::Ok))
}

/// The driver of this rank, and which of its devices it works on.
struct Seat {
    driver: Box<dyn Driver>,
    device: u32,
    /// Behind the driver: the machine ends when its last process has.
    _machine: Option<simulated::Machine>,
}

fn work(chosen: &Chosen, common: &Common, fabric: &Fabric, engine: &mut Engine) -> anyhow::Result<RankEnd> {
    let seat = take_seat(chosen, common.check, engine)?;
    let exe = executable()?;
    let mut sink = |event: &Event| {
        if common.verbose {
            show::note(&event_line(event));
        }
    };
    let rank = Rank {
        number: engine.rank(),
        count: engine.ranks(),
        driver: &*seat.driver,
        device: seat.device,
        transport: engine,
        exe: &exe,
    };
    Ok(work_as_rank(fabric, rank, &mut sink))
}

fn take_seat(chosen: &Chosen, checks: Checks, engine: &mut Engine) -> anyhow::Result<Seat> {
    match chosen {
        Chosen::Cuda { .. } => {
            let driver = Box::new(CudaDriver::open()?);
            Ok(Seat { driver, device: engine.rank_on_host(), _machine: None })
        }
        Chosen::Sim(profile) => simulated::join(profile, checks, engine),
    }
}

/// Prints the result of all ranks.
fn conclude(chosen: &Chosen, common: &Common, fabric: &Fabric, ends: &[Vec<u8>], begun: Instant) -> ExitCode {
    let read = |end: &Vec<u8>| serde_json::from_slice::<RankEnd>(end);
    let ends = match ends.iter().map(read).collect::<Result<Vec<_>, _>>() {
        Ok(ends) => ends,
        Err(error) => return Refusal::unexpected(error).end(common.json),
    };
    let (backend, profile) = match chosen {
        Chosen::Cuda { .. } => ("cuda", None),
        Chosen::Sim(profile) => ("sim", Some(profile.as_str())),
    };
    let report = report_of_ranks(fabric, backend, profile, ends, begun.elapsed().as_secs_f64() * 1e3);
    present(&RunReport { provenance: Some(provenance::find(backend)), ..report }, common.json)
}
