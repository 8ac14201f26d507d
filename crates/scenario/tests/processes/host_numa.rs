//! Runs of host-numa.

use std::collections::BTreeSet;

use peermap_driver::{ByteSize, Call};
use peermap_report::{ExitCode, RunReport};
use peermap_scenario::host_numa::HostNuma;
use peermap_scenario::{DeviceChoice, Options, one_line};

use crate::backend::{SimBackend, options, play};
use crate::fault::Fault;

fn succeed(options: Options, backend: &SimBackend) -> RunReport {
    let report = play(&HostNuma::new(options).into(), backend).0.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    report
}

/// What a worker's tries answered, by rights and act.
fn answers(report: &RunReport, worker: usize) -> BTreeSet<(String, String, String)> {
    let tries = &report.workers[worker].tries;
    tries.iter().map(|tried| (tried.right.clone(), tried.deed.clone(), tried.answer.clone())).collect()
}

/// What kernel write, kernel read, CPU write and CPU read must answer.
fn must_answer() -> BTreeSet<(String, String, String)> {
    const NO: &str = "CUDA_ERROR_ILLEGAL_ADDRESS";
    let rows = [
        ("device alone", ["done", "done", NO, NO]),
        ("device, host reads", ["done", "done", NO, "done"]),
        ("both", ["done"; 4]),
        ("both, of no node", ["done"; 4]),
        ("host alone", [NO, "", "done", "done"]),
    ];
    let acts = ["kernel write", "kernel read", "cpu write", "cpu read"];
    let cells = rows.into_iter().flat_map(|(right, row)| acts.into_iter().zip(row).map(move |cell| (right, cell)));
    let tried = cells.filter(|(_, (_, answer))| !answer.is_empty());
    tried.map(|(right, (act, answer))| (right.to_owned(), act.to_owned(), answer.to_owned())).collect()
}

pub fn rights_of_host_and_device_are_apart_and_all_share() {
    let backend = SimBackend::new("h200-x2");
    let report = succeed(Options { processes_per_device: 2, ..options() }, &backend);
    assert_eq!((report.scenario.as_str(), report.workers.len()), ("host-numa", 4));
    for (number, worker) in report.workers.iter().enumerate() {
        assert_eq!(answers(&report, number), must_answer());
        // By the device what the CPU of another wrote, by the CPU what the device of another wrote.
        assert_eq!(worker.verified, 2 * (2 << 20));
    }
    backend.assert_nothing_is_left();
}

pub fn one_worker_is_enough() {
    let devices = Some(vec![DeviceChoice::Ordinal(1)]);
    let report = succeed(Options { devices, ..options() }, &SimBackend::new("h200-x2"));
    assert_eq!((report.workers.len(), answers(&report, 0)), (1, must_answer()));
}

pub fn kernels_and_cpu_pass_every_check() {
    let backend = SimBackend::watching("h200-x2", "all");
    succeed(options(), &backend);
    backend.assert_nothing_is_left();
}

pub fn a_byte_that_changes_is_found() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Corrupt);
    let failure = play(&HostNuma::new(options()).into(), &backend).0.unwrap().failure.unwrap();
    let mismatch = failure.mismatch.unwrap();
    assert_eq!((failure.exit_code, mismatch.worker, mismatch.buffer, mismatch.wrong_bytes), (11, 1, 1, 2));
    backend.assert_nothing_is_left();
}

pub fn a_refused_or_killed_worker_is_named() {
    for (fault, code) in [
        (Fault::Refuse(Call::cuMemSetAccess), 16),
        (Fault::Refuse(Call::cuMemGetAccess), 16),
        (Fault::Refuse(Call::cuMemImportFromShareableHandle), 16),
        (Fault::Kill(Call::cuLaunchKernel), 13),
        (Fault::Kill(Call::cuMemUnmap), 13),
    ] {
        let backend = SimBackend::new("h200-x2").with_fault(fault);
        let failure = play(&HostNuma::new(options()).into(), &backend).0.unwrap().failure.unwrap();
        assert_eq!((failure.worker, failure.exit_code), (Some(1), code), "{fault}: {}", failure.message);
        backend.assert_nothing_is_left();
    }
}

pub fn what_cannot_be_is_refused() {
    let refused = |asked: Options, backend: &SimBackend| {
        let error = play(&HostNuma::new(asked).into(), backend).0.unwrap_err();
        (error.exit_code(), one_line(&error))
    };
    let (code, line) = refused(Options { size: ByteSize::mib(3), ..options() }, &SimBackend::new("h200-x2"));
    assert_eq!((code, line.contains("granularity")), (ExitCode::Usage, true), "{line}");
    let mut small = SimBackend::new("h200-x2");
    small.memory_limit = Some(ByteSize::mib(8));
    let (code, line) = refused(Options { size: ByteSize::mib(8), ..options() }, &small);
    assert_eq!((code, line.contains("at most 2 MiB")), (ExitCode::Usage, true), "{line}");
    let (code, line) = refused(options(), &SimBackend::new("no-host-numa"));
    assert_eq!(code, ExitCode::BackendUnavailable, "{line}");
    assert!(line.ends_with("no virtual memory management of memory of the host"), "{line}");
}
