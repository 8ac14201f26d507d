//! Runs of stripe.

use peermap_driver::{ByteSize, Call};
use peermap_report::{ExitCode, FailureKind, RunReport, Striped};
use peermap_scenario::stripe::{Balance, Stripe};
use peermap_scenario::{DeviceChoice, Options, VerifyOn, one_line};

use crate::altered;
use crate::backend::{SimBackend, options, play};
use crate::fault::Fault;

const KERNELS: &str = include_str!("../../../../kernels/stripe.ptx");

fn asked(stripes: u64, balance: Balance) -> Stripe {
    let options = Options { size: ByteSize::mib(2 * stripes), ..options() };
    Stripe { options, stripe: ByteSize::mib(2), balance }
}

fn succeed(asked: Stripe, backend: &SimBackend) -> RunReport {
    let report = play(&asked.into(), backend).0.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    report
}

fn told(report: &RunReport) -> Vec<Striped> {
    report.workers.iter().map(|worker| worker.striped.unwrap()).collect()
}

/// The time between the first and the last worker's end, as a part of the whole.
fn gap(report: &RunReport) -> f64 {
    let times: Vec<f64> = told(report).iter().map(|told| told.finish_ms).collect();
    let (first, last) =
        (times.iter().copied().reduce(f64::min).unwrap(), times.iter().copied().reduce(f64::max).unwrap());
    (last - first) / last
}

pub fn each_balance_adds_every_word_once() {
    for balance in [Balance::Even, Balance::ByDevice, Balance::Dynamic] {
        for verify_on in [VerifyOn::Device, VerifyOn::Host] {
            let backend = SimBackend::new("h200-x2");
            let asked = asked(8, balance);
            let asked = Stripe { options: Options { verify_on, ..asked.options }, ..asked };
            let report = succeed(asked, &backend);
            assert_eq!((report.scenario.as_str(), report.workers.len()), ("stripe", 2));
            let parts: f64 = told(&report).iter().map(|told| told.part_percent).sum();
            assert!((parts - 100.0).abs() < 1e-6, "{balance}: {parts}");
            assert_eq!(report.workers.iter().map(|worker| worker.verified).sum::<u64>(), 16 << 20, "{balance}");
            backend.assert_nothing_is_left();
        }
    }
}

pub fn stripes_lie_on_all_devices_and_nothing_is_copied_when_the_last_joins() {
    let report = succeed(asked(16, Balance::Even), &SimBackend::new("default"));
    let here: Vec<u32> = told(&report).iter().map(|told| told.stripes_here).collect();
    // Eight stripes on seven devices in turn, then eight on eight devices.
    assert_eq!(here, [3, 2, 2, 2, 2, 2, 2, 1]);
    assert!(told(&report).iter().all(|told| (told.stripes, told.copies) == (16, 0)));
}

pub fn unequal_devices_are_done_at_times_that_lie_closer_if_their_shares_follow_them() {
    let run = |balance| succeed(asked(64, balance), &SimBackend::new("unequal"));
    let even = run(Balance::Even);
    assert!(told(&even).iter().all(|told| told.part_percent == 50.0));
    for balance in [Balance::ByDevice, Balance::Dynamic] {
        let report = run(balance);
        let parts = told(&report);
        assert!(parts[0].part_percent > 60.0 && parts[1].part_percent > 0.0, "{balance}: {parts:?}");
        assert!(gap(&report) < gap(&even), "{balance}: {} and {}", gap(&report), gap(&even));
    }
}

pub fn one_device_is_enough() {
    let asked = asked(3, Balance::ByDevice);
    let devices = Some(vec![DeviceChoice::Ordinal(1)]);
    let report =
        succeed(Stripe { options: Options { devices, ..asked.options }, ..asked }, &SimBackend::new("h200-x2"));
    let parts: Vec<_> = told(&report).iter().map(|told| (told.part_percent, told.stripes_here)).collect();
    assert_eq!(parts, [(100.0, 3)]);
}

pub fn a_stripe_on_another_device_is_found() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Replace);
    let failure = play(&asked(4, Balance::Even).into(), &backend).0.unwrap().failure.unwrap();
    assert_eq!((failure.kind, failure.worker, failure.exit_code), (FailureKind::Mismatch, Some(1), 11));
    assert!(failure.message.contains("stripe 0 lies at"), "{}", failure.message);
    assert!(failure.message.ends_with("and was asked to lie on device 0"), "{}", failure.message);
    backend.assert_nothing_is_left();
}

pub fn a_byte_that_changes_before_the_last_device_joins_is_found() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Corrupt);
    let failure = play(&asked(4, Balance::Even).into(), &backend).0.unwrap().failure.unwrap();
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Mismatch, 11));
    // Both look at all of it, and nothing orders what the one looks at against the change in the other.
    assert!(failure.worker.is_some(), "{failure:?}");
    assert!(failure.message.contains("1 words of what was there before are wrong"), "{}", failure.message);
    backend.assert_nothing_is_left();
}

pub fn a_sum_that_is_wrong_is_found() {
    let folder = altered::kernels("stripe", KERNELS, "[verify_sum_param_3];", "[verify_sum_param_2];");
    let backend = SimBackend::new("h200-x2");
    let asked = asked(4, Balance::Dynamic);
    let options = Options { kernels: Some(folder.path().to_owned()), ..asked.options };
    let failure = play(&Stripe { options, ..asked }.into(), &backend).0.unwrap().failure.unwrap();
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Mismatch, 11));
    assert!(failure.message.contains("words of the sum are wrong"), "{}", failure.message);
    backend.assert_nothing_is_left();
}

pub fn a_refused_or_killed_worker_is_named() {
    for (fault, code) in [
        (Fault::Refuse(Call::cuMemImportFromShareableHandle), 16),
        (Fault::Refuse(Call::cuMemSetAccess), 16),
        (Fault::Refuse(Call::cuMemRetainAllocationHandle), 16),
        (Fault::Kill(Call::cuMemMap), 13),
        (Fault::Kill(Call::cuLaunchKernel), 13),
    ] {
        let backend = SimBackend::new("h200-x2").with_fault(fault);
        let failure = play(&asked(4, Balance::ByDevice).into(), &backend).0.unwrap().failure.unwrap();
        assert_eq!((failure.worker, failure.exit_code), (Some(1), code), "{fault}: {}", failure.message);
        backend.assert_nothing_is_left();
    }
}

pub fn what_cannot_be_is_refused() {
    let refused = |size, stripe, profile| {
        let asked = Stripe { options: Options { size, ..options() }, stripe, balance: Balance::Even };
        let error = play(&asked.into(), &SimBackend::new(profile)).0.unwrap_err();
        (error.exit_code(), one_line(&error))
    };
    let stripe = ByteSize::mib(2);
    for (size, stripe, words) in [
        (ByteSize::mib(8), ByteSize::ZERO, "--stripe"),
        (stripe, stripe, "is not 2 to 256 whole stripes of 2 MiB"),
        (ByteSize::mib(8), ByteSize::mib(1), "granularity"),
        (ByteSize::gib(2048), ByteSize::gib(16), "at most"),
    ] {
        let (code, line) = refused(size, stripe, "h200-x2");
        assert_eq!((code, line.contains(words)), (ExitCode::Usage, true), "{line}");
    }
}
