//! Every single fault of a run with three workers, in one OS process.

mod support;

use peermap_chaos::{Plan, in_one, single_faults};

use support::{Make, memmap_ipc, simple_ipc, staged, words};

/// Plays a run in which nothing goes wrong, then one for each single fault; gives what was wrong and how many were played.
fn every_single_fault(scenario: Make) -> (Vec<String>, usize) {
    let profile = support::profile();
    let staged = staged(scenario, &profile);
    let well = Plan { seed: 1, devices: 3, per_device: 1, faults: Vec::new() };
    let trial = in_one(&staged, &well).expect("a machine");
    assert_eq!(trial.wrong, [""; 0]);
    let faults = single_faults(&trial.tallies);
    let with = |fault| Plan { faults: vec![fault], ..well.clone() };
    let wrong = faults.iter().filter_map(|fault| {
        let plan = with(*fault);
        let wrong = in_one(&staged, &plan).expect("a machine").wrong;
        (!wrong.is_empty()).then(|| format!("{}: {}", words(&plan), wrong.join("; ")))
    });
    (wrong.collect(), faults.len())
}

#[test]
fn each_call_of_memmap_ipc_is_refused_once_and_each_process_killed_at_each_step() {
    let (wrong, played) = every_single_fault(memmap_ipc);
    assert_eq!(wrong, [""; 0]);
    assert!(played > 500, "{played}");
}

#[test]
fn each_call_of_simple_ipc_is_refused_once_and_each_process_killed_at_each_step() {
    let (wrong, played) = every_single_fault(simple_ipc);
    assert_eq!(wrong, [""; 0]);
    assert!(played > 500, "{played}");
}
