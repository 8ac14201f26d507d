//! Runs whose driver calls are recorded.

use peermap_driver::{Call, CuResult};
use peermap_report::calls::{Argument, CallRecord, ProcessCalls};
use peermap_report::{Event, RunReport};
use peermap_scenario::{Options, RunError, VerifyOn, run_recording_calls};

use crate::backend::{SimBackend, launcher, memmap_ipc, options};
use crate::fault::Fault;
use crate::story::{self, Told};

/// Runs on two devices; gives the result, and the calls of the parent and of both workers, as far as there are any.
fn record(asked: &Options, fault: Fault) -> (Result<RunReport, RunError>, Vec<ProcessCalls>) {
    let backend = SimBackend::new("h200-x2").with_fault(fault);
    let mut calls = Vec::new();
    let scenario = memmap_ipc(asked);
    let result = run_recording_calls(&scenario, &backend, &launcher(), &mut |_: &Event| {}, &mut calls);
    backend.assert_nothing_is_left();
    (result, calls)
}

fn names(calls: &[CallRecord]) -> Vec<&str> {
    calls.iter().map(|call| call.call.as_str()).collect()
}

fn told(story: &[Told]) -> Vec<&'static str> {
    story.iter().map(|told| told.call.name()).collect()
}

pub fn the_calls_of_every_process_are_those_of_the_story() {
    let (result, calls) = record(&options(), Fault::None);
    let report = result.unwrap();
    assert!(report.ok);
    let [parent, first, second] = <[ProcessCalls; 3]>::try_from(calls).unwrap();
    assert_eq!((parent.name.as_str(), parent.pid), ("parent", std::process::id()));
    assert_eq!((first.name.as_str(), first.pid), ("worker 0 (device 0)", report.workers[0].pid));
    assert_eq!((second.name.as_str(), second.pid), ("worker 1 (device 1)", report.workers[1].pid));
    assert_eq!(names(&parent.calls), told(&story::of_parent()));
    assert_eq!(names(&second.calls), told(&story::of_worker(VerifyOn::Device)));
    for process in [parent, first, second] {
        assert_eq!(process.lost, None, "{}", process.name);
        assert!(process.calls.iter().all(|call| call.error.is_none()), "{}", process.name);
        // One thread makes them one after the other.
        let apart = |two: &[CallRecord]| two[0].start_ns + two[0].duration_ns <= two[1].start_ns;
        assert!(process.calls.windows(2).all(apart), "{}", process.name);
    }
}

pub fn the_processes_share_one_clock() {
    let (_, calls) = record(&options(), Fault::None);
    let first = |process: &ProcessCalls, name: &str| {
        process.calls.iter().find(|call| call.call == name).map(|call| call.start_ns).unwrap()
    };
    let [parent, workers @ ..] = &calls[..] else { panic!("there is a parent") };
    for worker in workers {
        assert!(first(worker, "cuMemImportFromShareableHandle") > first(parent, "cuMemExportToShareableHandle"));
        assert!(first(worker, "cuMemMap") < first(parent, "cuMemRelease"));
    }
}

pub fn a_mapping_has_its_arguments() {
    let (_, calls) = record(&options(), Fault::None);
    let maps: Vec<_> = calls[2].calls.iter().filter(|call| call.call == "cuMemMap").collect();
    let argument = |map: &CallRecord, name: &str| {
        map.arguments.iter().find(|(known, _)| known == name).map(|(_, argument)| argument.clone()).unwrap()
    };
    let address = |map: &CallRecord| match argument(map, "ptr") {
        Argument::Hex(address) => address,
        other => panic!("{other:?}"),
    };
    assert_eq!(address(maps[1]) - address(maps[0]), 2 << 20);
    assert_eq!(argument(maps[0], "size"), Argument::Number(2 << 20));
}

pub fn a_worker_that_fails_sends_what_it_has() {
    let (result, calls) = record(&options(), Fault::Refuse(Call::cuMemSetAccess));
    assert!(!result.unwrap().ok);
    let worker = &calls[2];
    assert_eq!(worker.lost, None);
    let access = worker.calls.iter().find(|call| call.call == "cuMemSetAccess").unwrap();
    assert_eq!(access.error.as_ref().unwrap().result.as_deref(), Some("CUDA_ERROR_INVALID_VALUE"));
    let before = worker.calls.iter().take_while(|call| call.call != "cuMemSetAccess");
    assert!(before.into_iter().all(|call| call.error.is_none()));
}

pub fn a_worker_whose_driver_does_not_start_sends_its_only_call() {
    let (_, calls) = record(&options(), Fault::RefuseNth(1, CuResult::NO_DEVICE));
    assert_eq!(names(&calls[2].calls), ["cuInit"]);
    assert!(calls[2].calls[0].error.is_some());
}

pub fn a_worker_without_a_driver_has_made_no_call_and_lost_none() {
    let (_, calls) = record(&options(), Fault::NoDriver);
    assert_eq!((calls[2].calls.len(), calls[2].lost.as_ref()), (0, None));
}

pub fn a_killed_worker_takes_its_calls_with_it_and_the_others_do_not() {
    let (result, calls) = record(&options(), Fault::Kill(Call::cuLaunchKernel));
    assert!(!result.unwrap().ok);
    let [parent, first, second] = <[ProcessCalls; 3]>::try_from(calls).unwrap();
    assert_eq!((second.calls.len(), second.lost.unwrap().how.as_str()), (0, "killed by SIGKILL"));
    assert!(names(&first.calls).contains(&"cuMemMap"));
    assert_eq!((parent.lost, first.lost), (None, None));
}

pub fn a_refused_run_has_the_calls_of_its_parent() {
    let (result, calls) = record(&Options { size: peermap_driver::ByteSize::new(3_000_000), ..options() }, Fault::None);
    assert!(result.is_err());
    let [parent] = <[ProcessCalls; 1]>::try_from(calls).unwrap();
    assert_eq!(names(&parent.calls).last(), Some(&"cuMemGetAllocationGranularity"));
}

pub fn measuring_workers_are_told_from_those_of_the_run() {
    let (_, calls) = record(&Options { measure: true, ..options() }, Fault::None);
    let names: Vec<&str> = calls.iter().map(|process| process.name.as_str()).collect();
    let workers = ["worker 0 (device 0)", "worker 1 (device 1)"];
    let measuring = ["worker 0 (device 0), measuring", "worker 1 (device 1), measuring"];
    assert_eq!(names, [&["parent"][..], &workers, &measuring].concat());
    assert!(calls.iter().all(|process| process.lost.is_none() && !process.calls.is_empty()));
}
