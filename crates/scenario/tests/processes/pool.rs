//! Runs of pool-ipc, and what its rules are for.

use std::os::fd::AsFd;

use peermap_driver::{ByteSize, Call, Driver, HandleType, MemPoolProps, Stream};
use peermap_report::calls::ProcessCalls;
use peermap_report::{Event, ExitCode, FailureKind, RunReport};
use peermap_scenario::pool_ipc::{Handles, PoolIpc};
use peermap_scenario::{Backend, Options, Order, Relay, Verify, VerifyOn, one_line, run_recording_calls};

use crate::backend::{SimBackend, launcher, options, play, pool_ipc};
use crate::fault::Fault;

fn asked(order: Order, options: Options) -> PoolIpc {
    PoolIpc { relay: Relay { options, order, steps: None }, ..PoolIpc::default() }
}

/// A run that has to succeed.
fn succeed(asked: PoolIpc, backend: &SimBackend) -> RunReport {
    let report = play(&asked.into(), backend).0.unwrap();
    assert_eq!(report.failure, None);
    report
}

pub fn buffers_of_two_devices_are_handed_round() {
    let backend = SimBackend::new("h200-x2");
    let report = succeed(PoolIpc::default(), &backend);
    assert_eq!((report.scenario.as_str(), report.options["handles"].as_str()), ("pool-ipc", "pool"));
    assert_eq!(report.workers.iter().map(|worker| worker.device).collect::<Vec<_>>(), [0, 1]);
    for worker in &report.workers {
        assert_eq!((worker.bytes, worker.verified), (64 << 20, 64 << 20));
        let phases: Vec<&str> = worker.phases_ms.iter().map(|(name, _)| name).collect();
        assert_eq!(phases, ["init", "context", "module", "open", "ring", "verify", "teardown"]);
    }
    backend.assert_nothing_is_left();
}

pub fn every_combination_of_order_and_verify_succeeds() {
    let backend = SimBackend::new("h200-x2");
    for (order, verify_on) in [(Order::Events, VerifyOn::Device), (Order::Host, VerifyOn::Host)] {
        let options = Options { verify: Verify::All, verify_on, processes_per_device: 3, ..options() };
        let report = succeed(asked(order, options), &backend);
        let verified: Vec<u64> = report.workers.iter().map(|worker| worker.verified).collect();
        assert_eq!(verified, [6 * (2 << 20); 6], "{order} {verify_on}");
    }
}

pub fn without_any_order_the_check_fails_every_time() {
    let backend = SimBackend::new("h200-x2");
    for _ in 0..10 {
        let report = play(&asked(Order::None, options()).into(), &backend).0.unwrap();
        assert_eq!(report.failure.unwrap().kind, FailureKind::Mismatch);
    }
    backend.assert_nothing_is_left();
}

/// When the calls of this name began and ended in a process.
fn times(process: &ProcessCalls, name: &str) -> Vec<(u64, u64)> {
    let of_name = process.calls.iter().filter(|call| call.call == name);
    of_name.map(|call| (call.start_ns, call.start_ns + call.duration_ns)).collect()
}

pub fn importers_free_before_the_exporter() {
    let mut calls = Vec::new();
    let backend = SimBackend::new("h200-x2");
    let result = run_recording_calls(&pool_ipc(&options()), &backend, &launcher(), &mut |_: &Event| {}, &mut calls);
    assert!(result.unwrap().ok);
    let [parent, first, second] = <[ProcessCalls; 3]>::try_from(calls).unwrap();
    let exporter = times(&parent, "cuMemFreeAsync");
    let importers: Vec<_> = [first, second].iter().flat_map(|worker| times(worker, "cuMemFreeAsync")).collect();
    assert_eq!((exporter.len(), importers.len()), (2, 4));
    assert!(importers.iter().all(|(_, end)| *end <= exporter[0].0), "{importers:?} {exporter:?}");
}

pub fn legacy_handles_of_pool_memory_are_refused() {
    let backend = SimBackend::new("h200-x2");
    let wrong = PoolIpc { handles: Handles::Legacy, ..asked(Order::Events, options()) };
    let error = play(&wrong.into(), &backend).0.unwrap_err();
    let failure = error.failure();
    assert_eq!(error.exit_code(), ExitCode::DriverError);
    assert_eq!((failure.call.as_deref(), failure.rule.as_deref()), (Some("cuIpcGetMemHandle"), Some("LEGACY-1")));
    assert!(failure.message.contains("CUDA_ERROR_INVALID_VALUE"), "{}", failure.message);
    backend.assert_nothing_is_left();
}

/// A driver of this process with a context on the first device.
fn in_context(backend: &SimBackend) -> Box<dyn Driver> {
    let driver = backend.driver().unwrap();
    driver.init(0).unwrap();
    let device = driver.device_get(0).unwrap();
    driver.ctx_create(0, device).unwrap();
    driver
}

/// As measured (trace pools/one, pool-share-owner-first): an importer keeps the memory that its exporter frees, until it
/// imports what the pool has put in that place since. From then on its old pointer reads another's bytes.
pub fn memory_that_its_exporter_frees_first_becomes_that_of_another_allocation() {
    const SIZE: ByteSize = ByteSize::mib(2);
    const TYPE: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;
    let backend = SimBackend::new("h200-x2");
    let (exporter, importer) = (in_context(&backend), in_context(&backend));
    let pool = exporter.mem_pool_create(&MemPoolProps::pinned_on(0, TYPE)).unwrap();
    let allocate = |value| {
        let ptr = exporter.mem_alloc_from_pool_async(SIZE, pool, Stream::NULL).unwrap();
        exporter.memset_d8(ptr, value, SIZE).unwrap();
        exporter.ctx_synchronize().unwrap();
        ptr
    };
    let first = allocate(9);
    let descriptor = exporter.mem_pool_export_to_shareable_handle(pool, TYPE, 0).unwrap().into_posix_fd().unwrap();
    let imported = importer.mem_pool_import_from_shareable_handle(descriptor.as_fd().into(), TYPE, 0).unwrap();
    let import = |ptr| importer.mem_pool_import_pointer(imported, &exporter.mem_pool_export_pointer(ptr).unwrap());
    let old = import(first).unwrap();
    exporter.mem_free_async(first, Stream::NULL).unwrap();
    exporter.ctx_synchronize().unwrap();
    let second = allocate(5);
    let seen = || {
        let mut byte = [0];
        importer.memcpy_dtoh(&mut byte, old).unwrap();
        byte[0]
    };
    assert_eq!(seen(), 9);
    assert_eq!((import(second), seen()), (Ok(old), 5));
}

pub fn devices_whose_pools_cannot_be_shared_are_named() {
    let error = play(&pool_ipc(&options()), &SimBackend::new("no-pools")).0.unwrap_err();
    let line = "no usable device: devices 0, 1: memory pools cannot be shared as file descriptors";
    assert_eq!((error.exit_code(), one_line(&error)), (ExitCode::BackendUnavailable, line.to_owned()));
}

pub fn nothing_of_a_failed_run_is_left_on_the_machine() {
    for call in [Call::cuMemPoolImportPointer, Call::cuStreamWaitEvent, Call::cuMemFreeAsync] {
        let backend = SimBackend::new("h200-x2").with_fault(Fault::Kill(call));
        let report = play(&pool_ipc(&options()), &backend).0.unwrap();
        assert_eq!(report.failure.unwrap().kind, FailureKind::WorkerDied, "{call}");
        backend.assert_nothing_is_left();
    }
}
