//! What is left when the parent is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use peermap_driver::Call;
use peermap_ipc::{Output, Spawn};
use peermap_report::Event;
use peermap_scenario::memmap_ipc;

use crate::backend::{SimBackend, launcher, options, patience};
use crate::fault::Fault;

pub const PARENT: &str = "play-parent";

pub fn no_worker_survives_its_parent() {
    let exe = std::env::current_exe().unwrap();
    let mut parent = Spawn::new(exe).args([PARENT]).stdout(Output::Piped).spawn().unwrap();
    let lines = BufReader::new(parent.take_stdout().unwrap()).lines().map(Result::unwrap);
    let pids: Vec<u32> = lines.take(2).map(|line| line.parse().unwrap()).collect();
    assert!(pids.iter().all(|pid| is_there(*pid)));
    parent.kill().unwrap();
    parent.wait(patience()).unwrap();
    let begun = Instant::now();
    while pids.iter().any(|pid| is_there(*pid)) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{pids:?}");
        std::thread::yield_now();
    }
}

/// Whether a process is there and no zombie: those wait for whoever adopted them.
fn is_there(pid: u32) -> bool {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// A parent whose second worker hangs, so that it never ends by itself.
pub fn play_parent() -> ExitCode {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Hang(Call::cuLaunchKernel));
    let mut say = |event: &Event| {
        if let Event::WorkerStarted { pid, .. } = event {
            println!("{pid}");
            std::io::stdout().flush().unwrap();
        }
    };
    let report = memmap_ipc::run(&options(), &backend, &launcher(), &mut say).unwrap();
    ExitCode::from(report.exit_code())
}
