//! The result of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::alias_use::AliasUse;
use crate::calls::CallSummary;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::grown::Grown;
use crate::phases::Phases;
use crate::rejected::RejectedDevice;
use crate::striped::Striped;
use crate::tries::Try;

/// The number of the schema of [`RunReport`]. Adding a key keeps it; changing or removing one does not.
pub const SCHEMA: u32 = 1;

/// The result of a run of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was run.
    pub scenario: String,
    /// The backend: `sim` or `cuda`.
    pub backend: String,
    /// The profile of the simulated machine.
    pub profile: Option<String>,
    /// Whether the run succeeded.
    pub ok: bool,
    /// What was asked for, by the names of the command's options.
    pub options: BTreeMap<String, String>,
    /// Devices that did not take part.
    pub rejected: Vec<RejectedDevice>,
    /// The workers by number, finished or not.
    pub workers: Vec<WorkerReport>,
    /// From the start of the first worker to the end of the last, in milliseconds.
    pub wall_ms: f64,
    /// What is to be said of it besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What that is compared with, if it was asked for.
    pub reference: Option<Reference>,
    /// Why the run did not succeed.
    pub failure: Option<Failure>,
    /// By which build and on which driver, if whoever ran it noted that.
    #[serde(default)]
    pub provenance: Option<Provenance>,
    /// What the driver calls of all processes took, if they were recorded.
    #[serde(default)]
    pub calls: Option<Vec<CallSummary>>,
}

/// By which build and on which driver a result came about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The version of the command.
    pub version: String,
    /// The commit that the bundle was built from, where the command runs from one.
    pub commit: Option<String>,
    /// What the bundle's files hash to together.
    pub bundle_sha256: Option<String>,
    /// The version of the driver, such as 580.159.04.
    pub driver: Option<String>,
    /// The version of the operating system's kernel.
    pub kernel: Option<String>,
    /// Cores that the run could use.
    pub cores: usize,
}

/// What one worker did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// The number of the worker.
    pub worker: u32,
    /// The ordinal of its device, as the parent sees it.
    pub device: i32,
    /// The identity of its device.
    pub device_uuid: String,
    /// The name of its device.
    pub device_name: String,
    /// Its process.
    pub pid: u32,
    /// The size of its buffer.
    pub bytes: u64,
    /// How many bytes it found right.
    pub verified: u64,
    /// The rate of its fill kernels, median, in GB/s.
    pub fill_gb_s: Option<f64>,
    /// How long its phases took, in milliseconds.
    pub phases_ms: Phases,
    /// The last step that it began.
    pub last_step: String,
    /// Repeated measurements, if they were asked for.
    pub measured: Option<Rates>,
    /// What it tried with rights that it had or had not.
    #[serde(default)]
    pub tries: Vec<Try>,
    /// How its vector grew, if it had one.
    #[serde(default)]
    pub grown: Option<Grown>,
    /// How it used one memory by two addresses, and what came of it.
    #[serde(default)]
    pub alias_uses: Vec<AliasUse>,
    /// What it did of a sum of vectors that lie on several devices, if it did.
    #[serde(default)]
    pub striped: Option<Striped>,
    /// The norm that its ranks came to, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm: Option<f32>,
}

/// Rates of one worker on its own buffer, medians of repeated measurements.
///
/// # Units
/// GB/s, that is 1e9 bytes a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// The fill kernel.
    pub fill_gb_s: f64,
    /// The verify kernel.
    pub verify_gb_s: f64,
    /// `cuMemsetD8Async`.
    pub memset_gb_s: f64,
}

impl Rates {
    /// What the fill kernel reaches of `cuMemsetD8Async`, in percent.
    #[must_use]
    pub fn fill_percent(&self) -> f64 {
        100.0 * self.fill_gb_s / self.memset_gb_s
    }

    /// What the verify kernel reaches of `cuMemsetD8Async`, in percent.
    #[must_use]
    pub fn verify_percent(&self) -> f64 {
        100.0 * self.verify_gb_s / self.memset_gb_s
    }
}

/// The least that any program takes: initialising the driver and making one context, by a process that is alone and has the
/// driver's own defaults.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Initialising the driver, in milliseconds.
    pub init_ms: f64,
    /// Making a context, in milliseconds.
    pub context_ms: f64,
    /// The wall time of the run as a multiple of both together.
    pub wall_ratio: f64,
}

impl Reference {
    /// Compares the wall time of a run with the two.
    #[must_use]
    pub fn new(init_ms: f64, context_ms: f64, wall_ms: f64) -> Self {
        Self { init_ms, context_ms, wall_ratio: wall_ms / (init_ms + context_ms) }
    }
}

impl RunReport {
    /// The exit code of the command after this run.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        self.failure.as_ref().map_or(ExitCode::Ok, |failure| failure.kind.exit_code())
    }

    /// One JSON object, without a line end.
    ///
    /// # Panics
    /// Never: all keys are texts, which is the only thing that could fail.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report has only texts as keys")
    }
}

/// The rate of `bytes` in a time.
///
/// # Units
/// Milliseconds in, GB/s (1e9 bytes a second) out. No time at all gives `None`.
#[must_use]
pub fn gigabytes_per_second(bytes: u64, milliseconds: f64) -> Option<f64> {
    (milliseconds > 0.0).then(|| bytes as f64 / milliseconds / 1e6)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::failure::FailureKind;

    /// A report of one worker.
    pub(crate) fn report() -> RunReport {
        let mut phases_ms = Phases::default();
        phases_ms.add("init", 480.0);
        phases_ms.add("fill", 0.25);
        RunReport {
            schema: SCHEMA,
            scenario: "memmap-ipc".to_owned(),
            backend: "sim".to_owned(),
            profile: Some("h200-x2".to_owned()),
            ok: true,
            options: BTreeMap::from([("size".to_owned(), "4 MiB".to_owned())]),
            rejected: Vec::new(),
            workers: vec![WorkerReport {
                worker: 0,
                device: 0,
                device_uuid: "GPU-00112233-4455-6677-8899-aabbccddeeff".to_owned(),
                device_name: "simulated".to_owned(),
                pid: 4711,
                bytes: 4 << 20,
                verified: 4 << 20,
                fill_gb_s: Some(12.5),
                phases_ms,
                last_step: "exit".to_owned(),
                measured: None,
                tries: Vec::new(),
                grown: None,
                alias_uses: Vec::new(),
                striped: None,
                norm: None,
            }],
            wall_ms: 700.0,
            reference: None,
            failure: None,
            provenance: None,
            calls: None,
            remarks: Vec::new(),
        }
    }

    fn keys(value: &serde_json::Value) -> BTreeSet<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn the_keys_of_the_json_are_the_documented_ones() {
        let json: serde_json::Value = serde_json::from_str(&report().to_json()).unwrap();
        assert_eq!(
            keys(&json),
            BTreeSet::from([
                "backend",
                "calls",
                "failure",
                "ok",
                "options",
                "profile",
                "provenance",
                "reference",
                "rejected",
                "scenario",
                "schema",
                "wall_ms",
                "workers"
            ])
        );
        assert_eq!(
            keys(&json["workers"][0]),
            BTreeSet::from([
                "alias_uses",
                "bytes",
                "device",
                "device_name",
                "device_uuid",
                "fill_gb_s",
                "grown",
                "last_step",
                "measured",
                "phases_ms",
                "pid",
                "striped",
                "tries",
                "verified",
                "worker"
            ])
        );
        assert_eq!(json["schema"], 1);
        assert_eq!(json["failure"], serde_json::Value::Null);
        assert_eq!(json["workers"][0]["phases_ms"]["init"], 480.0);
    }

    #[test]
    fn a_failure_has_its_keys_and_decides_the_exit_code() {
        let failure = Failure {
            kind: FailureKind::WorkerDied,
            worker: Some(1),
            pid: Some(4712),
            step: Some("fill 1".to_owned()),
            message: "worker 1 was killed".to_owned(),
            exit_code: FailureKind::WorkerDied.exit_code().code(),
            call: None,
            rule: None,
            mismatch: None,
            memory: None,
        };
        let report = RunReport { ok: false, failure: Some(failure), ..report() };
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(
            keys(&json["failure"]),
            BTreeSet::from([
                "call",
                "exit_code",
                "kind",
                "memory",
                "message",
                "mismatch",
                "pid",
                "rule",
                "step",
                "worker"
            ])
        );
        assert_eq!(json["failure"]["kind"], "worker_died");
        assert_eq!(json["failure"]["exit_code"], 13);
        assert_eq!(report.exit_code(), ExitCode::WorkerLost);
    }

    #[test]
    fn a_report_reads_back() {
        let report = report();
        assert_eq!(serde_json::from_str::<RunReport>(&report.to_json()).unwrap(), report);
        assert!(!report.to_json().contains('\n'));
    }

    #[test]
    fn a_gigabyte_is_a_thousand_million_bytes() {
        assert_eq!(gigabytes_per_second(1_000_000_000, 1000.0), Some(1.0));
        assert_eq!(gigabytes_per_second(4096, 0.0), None);
    }

    #[test]
    fn measured_rates_are_compared_with_memset_and_the_wall_with_init_and_context() {
        let rates = Rates { fill_gb_s: 95.0, verify_gb_s: 97.0, memset_gb_s: 100.0 };
        assert_eq!((rates.fill_percent(), rates.verify_percent()), (95.0, 97.0));
        assert_eq!(Reference::new(480.0, 120.0, 720.0).wall_ratio, 1.2);
    }
}
