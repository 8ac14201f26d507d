//! Runs of grow.

use peermap_driver::{ByteSize, Call};
use peermap_report::{ExitCode, Grown, RunReport};
use peermap_scenario::grow::Grow;
use peermap_scenario::{Options, VerifyOn, one_line};

use crate::backend::{SimBackend, options, play};
use crate::fault::Fault;

const CHUNK: ByteSize = ByteSize::mib(2);

/// A vector of 16 chunks.
fn asked(kv_cache: bool) -> Grow {
    Grow::new(Options { size: ByteSize::mib(32), ..options() }, CHUNK, kv_cache)
}

/// A run that has to succeed.
fn succeed(asked: Grow, backend: &SimBackend) -> RunReport {
    let report = play(&asked.into(), backend).0.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    report
}

fn grown(report: &RunReport) -> Vec<Grown> {
    report.workers.iter().map(|worker| worker.grown.unwrap()).collect()
}

pub fn a_vector_grows_in_place_and_elsewhere_without_copying() {
    let backend = SimBackend::new("h200-x2");
    let report = succeed(asked(false), &backend);
    assert_eq!((report.scenario.as_str(), report.workers.len()), ("grow", 2));
    for grown in grown(&report) {
        assert_eq!((grown.chunks, grown.chunk, grown.copies), (16, 2 << 20, 0));
        // To 1, 2, 4, 8, 16, and to 16 once more; at 4 something lies behind.
        assert_eq!(grown.in_place + grown.extended + grown.moved, 6, "{grown}");
        assert!(grown.in_place >= 4 && grown.moved >= 1, "{grown}");
        assert_eq!((grown.fragmentation_before_percent, grown.fragmentation_after_percent), (None, None));
        // Two chunks of room at first, then eight elsewhere, then thirty-two behind these or elsewhere.
        let room = if grown.extended == 1 { 2 + 32 } else { 2 + 8 + 32 };
        assert_eq!(grown.address_high_water, room * (2 << 20), "{grown}");
        // At 4 and at 8 the first two chunks are looked at there too, and so on.
        assert!(grown.verified_old >= 4 * (2 << 20), "{grown}");
    }
    backend.assert_nothing_is_left();
}

pub fn each_refused_call_of_a_growth_leaves_the_vector_as_it_was() {
    for grown in grown(&succeed(asked(false), &SimBackend::new("h200-x2"))) {
        // Behind: reserved, and given back; elsewhere: reserved; two chunks mapped, each with access; two added. In place: four added.
        assert_eq!(grown.refused, 2 + 1 + 2 * 2 + 2 * 3 + 4 * 3);
    }
}

pub fn scattered_chunks_become_one_range() {
    for verify_on in [VerifyOn::Device, VerifyOn::Host] {
        let backend = SimBackend::new("h200-x2");
        let options = Options { size: ByteSize::mib(32), verify_on, processes_per_device: 2, ..options() };
        let report = succeed(Grow::new(options, CHUNK, true), &backend);
        for grown in grown(&report) {
            // Eight holes of one chunk each.
            assert_eq!(
                (grown.fragmentation_before_percent, grown.fragmentation_after_percent),
                (Some(87.5), Some(0.0))
            );
            assert_eq!(grown.copies, 0);
        }
        backend.assert_nothing_is_left();
    }
}

pub fn sizes_need_be_no_powers_of_two() {
    for chunks in [4, 5, 7, 33] {
        let options = Options { size: ByteSize::mib(2 * chunks), ..options() };
        let report = succeed(Grow::new(options, CHUNK, true), &SimBackend::new("h200-x2"));
        assert!(grown(&report).iter().all(|grown| u64::from(grown.chunks) == chunks && grown.copies == 0));
    }
}

pub fn a_byte_that_changes_is_found() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Corrupt);
    let failure = play(&asked(true).into(), &backend).0.unwrap().failure.unwrap();
    let mismatch = failure.mismatch.unwrap();
    assert_eq!((failure.exit_code, failure.worker, mismatch.buffer, mismatch.wrong_bytes), (11, Some(1), 1, 2));
    backend.assert_nothing_is_left();
}

pub fn a_refused_or_killed_worker_is_named() {
    for (fault, code) in [
        (Fault::Refuse(Call::cuMemAddressReserve), 16),
        (Fault::Refuse(Call::cuMemCreate), 16),
        (Fault::Refuse(Call::cuMemUnmap), 16),
        (Fault::Refuse(Call::cuMemAddressFree), 16),
        (Fault::Kill(Call::cuMemUnmap), 13),
        (Fault::Kill(Call::cuMemMap), 13),
    ] {
        let backend = SimBackend::new("h200-x2").with_fault(fault);
        let failure = play(&asked(true).into(), &backend).0.unwrap().failure.unwrap();
        assert_eq!((failure.worker, failure.exit_code), (Some(1), code), "{fault}: {}", failure.message);
        backend.assert_nothing_is_left();
    }
}

pub fn what_cannot_be_is_refused() {
    let refused = |size, chunk| {
        let asked = Grow::new(Options { size, ..options() }, chunk, false);
        let error = play(&asked.into(), &SimBackend::new("h200-x2")).0.unwrap_err();
        (error.exit_code(), one_line(&error))
    };
    for (size, chunk, words) in [
        (ByteSize::mib(32), ByteSize::ZERO, "--chunk"),
        (ByteSize::mib(6), CHUNK, "is not 4 to 65536 whole chunks of 2 MiB"),
        (ByteSize::mib(32), ByteSize::mib(1), "granularity"),
        (ByteSize::gib(1024), ByteSize::gib(1), "at most"),
    ] {
        let (code, line) = refused(size, chunk);
        assert_eq!((code, line.contains(words)), (ExitCode::Usage, true), "{line}");
    }
}
