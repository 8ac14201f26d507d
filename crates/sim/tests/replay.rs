//! The recordings of real hardware, played on the simulator: they are the specification of the model.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use peermap_driver::Driver;
use peermap_sim::SimMachine;
use peermap_trace::{Outcome, Player, Processes, Reader, StartError, Trace};

/// Processes of one simulated machine, all in this OS process, that see its first device or both.
struct InOne {
    machine: SimMachine,
    visible: &'static str,
}

impl InOne {
    fn of(trace: &Trace) -> Self {
        let visible = if trace.header.devices_to_see(2) == 1 { "0" } else { "0,1" };
        Self { machine: SimMachine::named("h200-x2").unwrap(), visible }
    }
}

impl Processes for InOne {
    fn start(&mut self, _process: u32) -> Result<Box<dyn Driver>, StartError> {
        Ok(Box::new(self.machine.process_seeing(Some(self.visible))?))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces")
}

fn replay(file: &str) -> Outcome {
    let traces = Reader::new(BufReader::new(File::open(folder().join(file)).unwrap()));
    traces.map(Result::unwrap).map(|trace| Player::play(&trace, &mut InOne::of(&trace))).sum()
}

fn matches_in_full(file: &str, steps: usize) {
    let outcome = replay(file);
    for mismatch in &outcome.mismatches {
        eprintln!("{mismatch}");
    }
    assert_eq!((outcome.steps, outcome.matched), (steps, steps), "{file}");
}

#[test]
fn what_random_calls_found() {
    let entries = fs::read_dir(folder().join("found")).unwrap().map(|entry| entry.unwrap().file_name());
    for name in entries.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".jsonl")) {
        let outcome = replay(&format!("found/{name}"));
        assert!(outcome.is_match(), "{}", outcome.mismatches[0]);
    }
}

#[test]
fn one_process() {
    matches_in_full("vmm.jsonl", 811);
}

#[test]
fn sharing_by_descriptor() {
    matches_in_full("share.jsonl", 263);
}

#[test]
fn where_the_manual_and_the_driver_part() {
    matches_in_full("edges.jsonl", 208);
}

#[test]
fn two_devices() {
    matches_in_full("peer.jsonl", 149);
}

#[test]
fn legacy() {
    matches_in_full("legacy.jsonl", 167);
}

#[test]
fn legacy_handles_in_second_contexts() {
    matches_in_full("legacy/contexts.jsonl", 221);
}

#[test]
fn work_in_flight() {
    matches_in_full("inflight.jsonl", 82);
}

#[test]
fn pools_of_one_device() {
    matches_in_full("pools/one.jsonl", 1694);
}

#[test]
fn pools_with_work_that_has_not_ended() {
    matches_in_full("pools/busy.jsonl", 700);
}

#[test]
fn pools_of_two_devices() {
    matches_in_full("pools/two.jsonl", 133);
}

#[test]
fn what_the_driver_takes_for_itself() {
    matches_in_full("driver/one.jsonl", 286);
    matches_in_full("driver/two.jsonl", 321);
}

#[test]
fn random_calls_of_one_process() {
    matches_in_full("random_1.jsonl", 2664);
}

#[test]
fn random_calls_of_two_processes() {
    matches_in_full("random_2.jsonl", 1528);
}

#[test]
fn random_calls_on_two_devices() {
    matches_in_full("random_peer.jsonl", 1478);
}
