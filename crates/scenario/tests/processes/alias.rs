//! Runs of alias.

use peermap_driver::{ByteSize, Call};
use peermap_report::{AliasUse, ExitCode, Failure, FailureKind, RunReport};
use peermap_scenario::alias::{Alias, Case};
use peermap_scenario::{Options, one_line};

use crate::altered;
use crate::backend::{SimBackend, options, play};
use crate::fault::Fault;

const KERNELS: &str = include_str!("../../../../kernels/alias.ptx");

/// Words of a buffer.
const WORDS: u64 = (2 << 20) / 8;

fn watching() -> SimBackend {
    SimBackend::watching("h200-x2", "aliases")
}

fn succeed(asked: Alias, backend: &SimBackend) -> RunReport {
    let report = play(&asked.into(), backend).0.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    report
}

/// What came of a case, on each device.
fn uses(report: &RunReport, case: Case) -> Vec<AliasUse> {
    let all = report.workers.iter().flat_map(|worker| &worker.alias_uses);
    all.filter(|told| told.case == case.to_string()).cloned().collect()
}

pub fn what_is_defined_is_read_as_written_and_the_rest_is_reported() {
    let backend = watching();
    let report = succeed(Alias::new(options(), true), &backend);
    assert_eq!((report.scenario.as_str(), report.workers.len()), ("alias", 6));
    for case in [Case::Ordered, Case::Fenced] {
        let read: Vec<_> = uses(&report, case).iter().map(|told| (told.as_written, told.report.clone())).collect();
        assert_eq!(read, [(WORDS, None), (WORDS, None)], "{case}");
    }
    for (case, reader, writer) in [
        (Case::Unfenced, "kernel \"foo\", ", "of what block"),
        (
            Case::EarlyReader,
            "kernel \"early_reader\", ",
            "of what kernel \"foo1\", which had not ended when this one began",
        ),
    ] {
        let told = uses(&report, case);
        assert_eq!(told.len(), 2, "{case}");
        for report in told.into_iter().map(|told| told.report.unwrap()) {
            assert!(report.starts_with(reader) && report.contains(writer), "{report}");
            assert!(report.ends_with("without fence.proxy.alias in between"), "{report}");
        }
    }
    let verified: Vec<u64> = report.workers.iter().map(|worker| worker.verified).collect();
    assert_eq!(verified, [2 * 8 * WORDS, 2 * 8 * WORDS, 0, 0, 0, 0]);
    backend.assert_nothing_is_left();
}

pub fn without_a_check_there_is_no_verdict() {
    let backend = SimBackend::new("h200-x2");
    let report = succeed(Alias::new(options(), false), &backend);
    for case in [Case::Unfenced, Case::EarlyReader] {
        for told in uses(&report, case) {
            // This is what the simulator does, and no promise: its memory has one content, whatever the address.
            assert_eq!((told.as_written, told.as_before, told.apart, told.report), (WORDS, 0, false, None), "{case}");
        }
    }
    backend.assert_nothing_is_left();
}

pub fn a_check_that_reports_nothing_is_a_mismatch() {
    let backend = SimBackend::new("h200-x2");
    let failure = play(&Alias::new(options(), true).into(), &backend).0.unwrap().failure.unwrap();
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Mismatch, 11));
    assert!(
        failure.message.contains("is undefined") && failure.message.ends_with("and no check reported it"),
        "{failure:?}"
    );
    backend.assert_nothing_is_left();
}

/// Runs with kernels in which something is replaced; gives why that fails.
fn failure_with(from: &str, to: &str) -> Failure {
    let folder = altered::kernels("alias", KERNELS, from, to);
    let backend = watching();
    let asked = Options { kernels: Some(folder.path().to_owned()), ..options() };
    let failure = play(&Alias::new(asked, true).into(), &backend).0.unwrap().failure.unwrap();
    backend.assert_nothing_is_left();
    failure
}

pub fn words_that_are_not_as_written_are_a_mismatch() {
    // Where the value that was written is expected, something else is.
    let failure = failure_with("[foo2_param_2];", "[foo2_param_1];");
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Mismatch, 11));
    let words = format!("{WORDS} of {WORDS} words were not read as written (foo1, then foo2), and that is defined");
    assert!(failure.message.ends_with(&words), "{}", failure.message);
}

pub fn a_fence_that_is_missing_is_a_finding() {
    let failure = failure_with("fence.proxy.alias;", "membar.gl;");
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Finding, 18));
    assert_eq!(failure.step.as_deref(), Some("use by two addresses: fenced foo"));
    assert!(failure.message.contains("kernel \"foo_fenced\""), "{}", failure.message);
}

pub fn a_refused_or_killed_worker_is_named() {
    for (fault, code) in [
        (Fault::Refuse(Call::cuMemCreate), 16),
        (Fault::Refuse(Call::cuMemMap), 16),
        (Fault::Refuse(Call::cuStreamWaitEvent), 16),
        (Fault::Refuse(Call::cuMemUnmap), 16),
        (Fault::Kill(Call::cuEventRecord), 13),
        (Fault::Kill(Call::cuMemAddressFree), 13),
    ] {
        let backend = watching().with_fault(fault);
        let failure = play(&Alias::new(options(), true).into(), &backend).0.unwrap().failure.unwrap();
        assert_eq!((failure.worker, failure.exit_code), (Some(1), code), "{fault}: {}", failure.message);
        backend.assert_nothing_is_left();
    }
}

pub fn what_cannot_be_is_refused() {
    let refused = |asked: Options, profile: &str| {
        let error = play(&Alias::new(asked, false).into(), &SimBackend::new(profile)).0.unwrap_err();
        (error.exit_code(), one_line(&error))
    };
    let (code, line) = refused(Options { size: ByteSize::mib(3), ..options() }, "h200-x2");
    assert_eq!((code, line.contains("granularity")), (ExitCode::Usage, true), "{line}");
    let (code, line) = refused(Options { size: ByteSize::gib(100), ..options() }, "h200-x2");
    assert_eq!((code, line.starts_with("3 buffers of 100 GiB do not fit")), (ExitCode::Usage, true), "{line}");
}
