//! Runs that fail in a worker.

use std::time::Duration;

use peermap_driver::Call;
use peermap_report::{Failure, FailureKind, Mismatch, RunReport};
use peermap_scenario::{Options, VerifyOn};

use crate::backend::{SimBackend, options, run};
use crate::fault::{CORRUPT_BYTE, CORRUPT_OFFSET, Fault, LEAKED};

/// A run that has to fail because of worker 1.
fn fail(options: &Options, fault: Fault) -> (RunReport, Failure) {
    let backend = SimBackend::new("h200-x2").with_fault(fault);
    let report = run(options, &backend).0.unwrap();
    assert!(!report.ok);
    assert_eq!(report.workers.len(), 2);
    let failure = report.failure.clone().unwrap();
    assert_eq!(failure.worker, Some(1), "{failure:?}");
    assert_eq!(failure.pid, Some(report.workers[1].pid));
    (report, failure)
}

pub fn a_worker_killed_in_any_step_ends_the_run_and_is_named() {
    for (call, step) in [
        (Call::cuInit, "init"),
        (Call::cuCtxCreate, "context"),
        (Call::cuModuleLoadDataEx, "module"),
        (Call::cuMemAddressReserve, "reserve"),
        (Call::cuMemImportFromShareableHandle, "import and map"),
        (Call::cuMemSetAccess, "access"),
        (Call::cuLaunchKernel, "fill 0"),
        (Call::cuMemcpyDtoH, "verify 1"),
        (Call::cuMemUnmap, "teardown"),
    ] {
        let (report, failure) = fail(&options(), Fault::Kill(call));
        assert_eq!((failure.kind, failure.exit_code), (FailureKind::WorkerDied, 13), "{call}");
        assert_eq!(failure.step.as_deref(), Some(step), "{call}");
        assert!(failure.message.ends_with("killed by SIGKILL"), "{}", failure.message);
        // The timeout is a minute: it was not what ended the run.
        assert!(report.wall_ms < 30_000.0, "{call}: {} ms", report.wall_ms);
    }
}

pub fn a_worker_that_hangs_is_named_when_the_time_is_over() {
    let asked = Options { timeout: Duration::from_secs(10), ..options() };
    let (_, failure) = fail(&asked, Fault::Hang(Call::cuMemSetAccess));
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::TimedOut, 13));
    assert_eq!(failure.step.as_deref(), Some("access"));
}

pub fn a_refused_call_of_a_worker_is_named() {
    let (_, failure) = fail(&options(), Fault::Refuse(Call::cuMemMap));
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Driver, 16));
    assert_eq!(failure.call.as_deref(), Some("cuMemMap"));
    assert_eq!(failure.step.as_deref(), Some("import and map"));
    assert!(failure.message.ends_with("cuMemMap: CUDA_ERROR_INVALID_VALUE"), "{}", failure.message);
}

pub fn what_is_not_modelled_has_its_own_exit_code() {
    let (_, failure) = fail(&options(), Fault::NotModelled(Call::cuModuleLoadDataEx));
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::NotModelled, 14));
    assert_eq!(failure.call.as_deref(), Some("cuModuleLoadDataEx"));
}

pub fn memory_that_a_worker_does_not_give_back_is_a_failure_with_its_maker() {
    let (report, failure) = fail(&options(), Fault::Leak);
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Memory, 18));
    let verified: Vec<u64> = report.workers.iter().map(|worker| worker.verified).collect();
    assert_eq!(verified, [2 << 20, 2 << 20], "everything else went well");
    let memory = failure.memory.unwrap();
    assert_eq!((memory.held, memory.all_left, memory.all_misuses), (vec![], 1, 0));
    let [held] = &memory.left[0].held[..] else { panic!("one allocation: {:?}", memory.left) };
    assert_eq!((held.bytes, &*held.place), (LEAKED.get(), "device 0"));
    assert!(held.made_by.starts_with("cuMemCreate (call "), "{}", held.made_by);
    assert!(failure.message.contains(&held.made_by), "{}", failure.message);
}

pub fn a_failure_tells_what_was_held_and_what_the_dead_had() {
    let (report, failure) = fail(&options(), Fault::Kill(Call::cuMemSetAccess));
    let memory = failure.memory.unwrap();
    let parents: Vec<_> = memory.held.iter().filter(|held| held.made_by.starts_with("cuMemCreate")).collect();
    assert_eq!(parents.len(), 2, "{memory:?}");
    let pid = std::process::id();
    assert!(parents.iter().all(|held| held.kept_by.iter().any(|keeper| keeper.pid == Some(pid))), "{memory:?}");
    assert!(memory.left.iter().any(|left| !left.held.is_empty()), "the one that died had a mapping: {memory:?}");
    assert!(report.table().contains("memory then:\n  2097152 bytes on device 0, made by cuMemCreate (call "));
}

pub fn a_wrong_byte_is_found_on_the_device_and_on_the_host() {
    for verify_on in [VerifyOn::Device, VerifyOn::Host] {
        let (report, failure) = fail(&Options { verify_on, ..options() }, Fault::Corrupt);
        assert_eq!((failure.kind, failure.exit_code), (FailureKind::Mismatch, 11), "{verify_on}");
        // Buffer 1 of two was filled last by worker 0.
        let (worker, buffer, offset) = (1, 1, CORRUPT_OFFSET);
        let found = Mismatch { worker, buffer, offset, expected: 0, got: CORRUPT_BYTE, wrong_bytes: 2 };
        assert_eq!(failure.mismatch, Some(found), "{verify_on}");
        let verified: Vec<u64> = report.workers.iter().map(|worker| worker.verified).collect();
        assert_eq!(verified, [2 << 20, 0], "{verify_on}");
    }
}

pub fn a_worker_without_a_driver_makes_the_backend_unavailable() {
    let (_, failure) = fail(&options(), Fault::NoDriver);
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Backend, 12));
    assert!(failure.message.contains("it was taken away"), "{}", failure.message);
}

pub fn nothing_of_a_failed_run_is_left_on_the_machine() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Kill(Call::cuLaunchKernel));
    assert!(!run(&options(), &backend).0.unwrap().ok);
    backend.assert_nothing_is_left();
}
