//! What is left when the parent is killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use peermap_driver::Call;
use peermap_ipc::{Output, Spawn};
use peermap_report::Event;
use peermap_scenario::Backend;

use crate::backend::{SimBackend, launcher, memmap_ipc, options, patience};
use crate::fault::Fault;
use crate::parent_calls::{Guarded, MockGuard};

pub const PARENT: &str = "play-parent";

/// Who stops for ever at which call.
const IN_PARENT: &str = "parent";
const IN_WORKER: &str = "worker";

/// Kills a parent once it has said `moment`, in a run that stops for ever at a call. The parent has at least so many children
/// then: its machine, and the workers that cannot have ended.
fn kill_parent(stops: &str, at: Call, moment: &str, least: usize) {
    let exe = std::env::current_exe().unwrap();
    let spawn = Spawn::new(exe).args([PARENT, stops, at.name()]).stdout(Output::Piped);
    let mut parent = spawn.spawn().unwrap();
    let mut lines = BufReader::new(parent.take_stdout().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == moment), "the parent ended before {moment:?}");
    let children = children_of(parent.pid());
    assert!(children.len() >= least, "{moment}: {children:?}");
    parent.kill().unwrap();
    parent.wait(patience()).unwrap();
    let begun = Instant::now();
    while children.iter().any(|pid| is_there(*pid)) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{moment}: {children:?}");
        std::thread::yield_now();
    }
}

pub fn no_child_survives_a_parent_killed_while_a_worker_works() {
    for (at, moment, least) in [
        (Call::cuInit, "worker 0: started", 3),
        (Call::cuCtxCreate, "worker 1: started", 3),
        (Call::cuCtxCreate, "worker 1: context", 3),
        (Call::cuModuleLoadDataEx, "worker 1: module", 3),
        (Call::cuMemImportFromShareableHandle, "worker 1: import and map", 3),
        (Call::cuLaunchKernel, "worker 1: fill 0", 3),
        (Call::cuMemcpyDtoH, "worker 1: verify 1", 2),
        (Call::cuMemUnmap, "worker 1: teardown", 2),
    ] {
        kill_parent(IN_WORKER, at, moment, least);
    }
}

pub fn no_child_survives_a_parent_killed_in_a_call_of_its_own() {
    for (at, least) in [(Call::cuInit, 3), (Call::cuMemCreate, 3), (Call::cuMemRelease, 1)] {
        kill_parent(IN_PARENT, at, &format!("parent: {at}"), least);
    }
}

/// The state of each process, and its parent.
fn processes() -> BTreeMap<u32, (char, u32)> {
    let folders = std::fs::read_dir("/proc").unwrap().map(Result::unwrap);
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, state_and_parent(pid)?))).collect()
}

/// `None`: it is gone.
fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold any character.
    let (_, rest) = stat.rsplit_once(") ")?;
    let (state, rest) = rest.split_once(' ')?;
    Some((state.chars().next()?, rest.split(' ').next()?.parse().ok()?))
}

fn children_of(parent: u32) -> Vec<u32> {
    processes().into_iter().filter(|(_, (_, of))| *of == parent).map(|(pid, _)| pid).collect()
}

/// Whether a process is there and no zombie: those wait for whoever adopted them.
fn is_there(pid: u32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| state != 'Z')
}

/// A parent that never ends by itself, because it or its second worker stops at a call. It says how far the run is.
pub fn play_parent(stops: &str, at: &str) -> ExitCode {
    let at = Call::from_name(at).unwrap();
    let sim = SimBackend::new("h200-x2");
    match stops {
        IN_PARENT => play(&Guarded::new(&sim, stopping(at))),
        _ => play(&sim.with_fault(Fault::Hang(at))),
    }
}

fn stopping(at: Call) -> MockGuard {
    let mut guard = MockGuard::new();
    guard.expect_before().withf(move |call, _| *call == at).returning(|call, _| {
        say(&format!("parent: {call}"));
        loop {
            std::thread::park();
        }
    });
    guard.expect_before().returning(|_, _| Ok(()));
    guard.expect_after().return_const(());
    guard
}

fn play(backend: &dyn Backend) -> ExitCode {
    let mut tell = |event: &Event| match event {
        Event::WorkerStarted { worker, .. } => say(&format!("worker {worker}: started")),
        Event::Step { worker, step } => say(&format!("worker {worker}: {step}")),
        _ => {}
    };
    let report = peermap_scenario::run(&memmap_ipc(&options()), backend, &launcher(), &mut tell).unwrap();
    ExitCode::from(report.exit_code())
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}
