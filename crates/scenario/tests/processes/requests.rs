//! What is refused before any worker gets work.

use peermap_driver::ByteSize;
use peermap_report::ExitCode;
use peermap_scenario::{DeviceChoice, Fill, Launcher, Options, RunError, one_line};

use crate::backend::{SimBackend, memmap_ipc, options, run};

/// The exit code and the line of a request that has to be refused.
fn refused(options: &Options, backend: &SimBackend) -> (ExitCode, String) {
    let error = run(options, backend).0.unwrap_err();
    let line = one_line(&error);
    assert!(!line.contains('\n'));
    (error.exit_code(), line)
}

pub fn a_size_that_does_not_fit_names_the_granularity_and_the_next_size() {
    let asked = Options { size: ByteSize::mib(3), ..options() };
    let (code, line) = refused(&asked, &SimBackend::new("h200-x2"));
    assert_eq!(code, ExitCode::Usage);
    assert_eq!(line, "3 MiB is no multiple of the granularity, which is 2 MiB; the next size that fits is 4 MiB");
}

pub fn what_is_larger_than_device_or_host_is_refused() {
    let mut backend = SimBackend::new("h200-x2");
    let (code, line) = refused(&Options { size: ByteSize::gib(100), ..options() }, &backend);
    assert_eq!(code, ExitCode::Usage);
    assert!(line.starts_with("2 buffers of 100 GiB do not fit the "), "{line}");
    let (code, _) = refused(&Options { size: ByteSize::gib(1 << 33), ..options() }, &backend);
    assert_eq!(code, ExitCode::Usage);
    backend.memory_limit = Some(ByteSize::mib(15));
    let (code, line) = refused(&Options { size: ByteSize::mib(8), ..options() }, &backend);
    assert_eq!(code, ExitCode::Usage);
    let advice = "do not fit the 14 MiB of memory that this host can back; use a --size of at most 6 MiB";
    assert!(line.ends_with(advice), "{line}");
    // The host's limit is named even if the device's is exceeded as well.
    for gibibytes in [100, 1 << 33] {
        let (code, line) = refused(&Options { size: ByteSize::gib(gibibytes), ..options() }, &backend);
        assert_eq!(code, ExitCode::Usage);
        assert!(line.ends_with(advice), "{line}");
    }
    backend.memory_limit = Some(ByteSize::gib(1 << 20));
    let (_, line) = refused(&Options { size: ByteSize::gib(100), ..options() }, &backend);
    assert!(line.ends_with(" MiB of device 0; use a --size of at most 71576 MiB"), "{line}");
}

pub fn unknown_and_unusable_devices_are_refused() {
    let devices = |ordinals: &[i32]| Options {
        devices: Some(ordinals.iter().map(|ordinal| DeviceChoice::Ordinal(*ordinal)).collect()),
        ..options()
    };
    let (code, line) = refused(&devices(&[7]), &SimBackend::new("h200-x2"));
    assert_eq!((code, line.as_str()), (ExitCode::Usage, "there is no device 7; the devices are 0, 1"));
    let (code, line) = refused(&devices(&[0, 1]), &SimBackend::new("no-peer"));
    assert_eq!(code, ExitCode::BackendUnavailable);
    assert_eq!(line, "no usable device: device 1: no peer access both ways with device 0");
}

pub fn a_refusal_is_a_report_too() {
    let backend = SimBackend::new("h200-x2");
    let asked = Options { size: ByteSize::mib(3), ..options() };
    let error = run(&asked, &backend).0.unwrap_err();
    let report = peermap_scenario::refused(&memmap_ipc(&asked), &backend, &error);
    assert!(!report.ok);
    assert_eq!(report.workers, []);
    assert_eq!(report.exit_code(), ExitCode::Usage);
    assert_eq!(report.options["fill"], "undecided");
}

pub fn an_executable_that_is_gone_is_named() {
    let launcher = Launcher { exe: "/nowhere/peermap".into(), args: Vec::new() };
    let backend = SimBackend::new("h200-x2");
    let error = peermap_scenario::run(&memmap_ipc(&options()), &backend, &launcher, &mut |_: &_| {}).unwrap_err();
    assert!(matches!(error, RunError::Spawn { worker: 0, .. }));
    assert_eq!(error.exit_code(), ExitCode::Unexpected);
    assert!(one_line(&error).contains("/nowhere/peermap: no such file"), "{}", one_line(&error));
}

pub fn ids_above_255_are_refused_if_asked_for() {
    let asked = Options { fill: Some(Fill::Id), processes_per_device: 128, ..options() };
    // A worker that is started in vain would be the first thing to fail.
    let launcher = Launcher { exe: "/nowhere/peermap".into(), args: Vec::new() };
    let both = Some(vec![DeviceChoice::Ordinal(0), DeviceChoice::Ordinal(1)]);
    for devices in [None, both] {
        let asked = Options { devices, ..asked.clone() };
        let backend = SimBackend::new("h200-x2");
        let error = peermap_scenario::run(&memmap_ipc(&asked), &backend, &launcher, &mut |_: &_| {}).unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Usage, "{error}");
        assert_eq!(one_line(&error), "the ids of 256 workers do not fit one byte; use --fill pattern");
    }
}
