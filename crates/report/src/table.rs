//! A run as a table for people.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::calls::calls_table;
use crate::failure::Failure;
use crate::rejected::{Rejection, device_list};
use crate::run::{Reference, RunReport, WorkerReport};
use crate::striped::gap_line;
use crate::tries::tries_table;

impl RunReport {
    /// A table of the workers, and below it the rejected devices, what was measured and the failure; then a table of the
    /// driver calls, if they were recorded. Ends without a line end.
    #[must_use]
    pub fn table(&self) -> String {
        let mut lines = vec![self.worker_table()];
        lines.extend(tries_table(&self.workers));
        lines.extend(self.workers.iter().filter_map(grown_line));
        lines.extend(self.workers.iter().flat_map(alias_lines));
        lines.extend(self.workers.iter().filter_map(striped_line));
        lines.extend(gap_line(&self.workers));
        lines.extend(self.workers.iter().filter_map(norm_line));
        lines.extend(Rejection::fold(&self.rejected).iter().map(rejection_line));
        lines.extend(self.workers.iter().filter_map(measured_line));
        lines.extend(self.reference.as_ref().map(|reference| reference_line(reference, self.wall_ms)));
        lines.push(match &self.failure {
            None => format!("ok, {:.0} ms", self.wall_ms),
            Some(failure) => failure_line(failure),
        });
        lines.extend(self.failure.iter().flat_map(memory_lines));
        lines.extend(self.calls.as_ref().map(|calls| format!("\n{}", calls_table(calls))));
        lines.join("\n")
    }

    fn worker_table(&self) -> String {
        // The phases are columns of their own; workers that ended early lack the later ones.
        let mut phases: Vec<&str> = Vec::new();
        for (name, _) in self.workers.iter().flat_map(|worker| worker.phases_ms.iter()) {
            if !phases.contains(&name) {
                phases.push(name);
            }
        }
        let mut table = Table::new();
        table.load_preset(NOTHING);
        let fixed = ["worker", "device", "pid", "bytes", "verified", "fill GB/s"].map(str::to_owned);
        table.set_header(fixed.into_iter().chain(phases.iter().map(|name| format!("{name} ms"))));
        for worker in &self.workers {
            table.add_row(row(worker, &phases));
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.trim_fmt()
    }
}

fn row(worker: &WorkerReport, phases: &[&str]) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    let fixed = [
        worker.worker.to_string(),
        worker.device.to_string(),
        worker.pid.to_string(),
        worker.bytes.to_string(),
        worker.verified.to_string(),
        number(worker.fill_gb_s),
    ];
    fixed.into_iter().chain(phases.iter().map(|name| number(worker.phases_ms.get(name)))).collect()
}

fn rejection_line(rejection: &Rejection) -> String {
    format!("{} did not take part: {}", device_list(&rejection.devices), rejection.reason)
}

fn measured_line(worker: &WorkerReport) -> Option<String> {
    let rates = worker.measured.as_ref()?;
    Some(format!(
        "worker {}: fill {:.0} GB/s ({:.1} % of memset), verify {:.0} GB/s ({:.1} %), memset {:.0} GB/s",
        worker.worker,
        rates.fill_gb_s,
        rates.fill_percent(),
        rates.verify_gb_s,
        rates.verify_percent(),
        rates.memset_gb_s
    ))
}

fn grown_line(worker: &WorkerReport) -> Option<String> {
    Some(format!("worker {}: {}", worker.worker, worker.grown.as_ref()?))
}

fn alias_lines(worker: &WorkerReport) -> impl Iterator<Item = String> {
    worker.alias_uses.iter().map(|told| format!("worker {}: {told}", worker.worker))
}

fn striped_line(worker: &WorkerReport) -> Option<String> {
    Some(format!("worker {}: {}", worker.worker, worker.striped.as_ref()?))
}

fn norm_line(worker: &WorkerReport) -> Option<String> {
    Some(format!("worker {}: norm {}", worker.worker, worker.norm?))
}

fn reference_line(reference: &Reference, wall_ms: f64) -> String {
    format!(
        "the run took {wall_ms:.0} ms, {:.2} times the {:.0} ms of initialisation and the {:.0} ms of one context",
        reference.wall_ratio, reference.init_ms, reference.context_ms
    )
}

fn failure_line(failure: &Failure) -> String {
    format!("failed (exit code {}): {}", failure.exit_code, failure.message)
}

/// What was held then: all there is to know about a leak.
fn memory_lines(failure: &Failure) -> impl Iterator<Item = String> {
    let lines = failure.memory.as_ref().map(|memory| memory.lines(false)).unwrap_or_default();
    let title = (!lines.is_empty()).then(|| "memory then:".to_owned());
    title.into_iter().chain(lines.into_iter().map(|line| format!("  {line}")))
}

#[cfg(test)]
mod tests {
    use crate::calls::CallSummary;
    use crate::calls::samples::parent;
    use crate::failure::{Failure, FailureKind};
    use crate::rejected::RejectedDevice;
    use crate::run::tests::report;
    use crate::run::{Rates, Reference, RunReport};

    #[test]
    fn the_table_has_a_row_for_each_worker_and_a_column_for_each_phase() {
        let text = report().table();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        assert_eq!(lines[0], "worker device pid bytes verified fill GB/s init ms fill ms");
        assert_eq!(lines[1], "0 0 4711 4194304 4194304 12.5 480.0 0.2");
        assert_eq!(lines[2], "ok, 700 ms");
    }

    #[test]
    fn what_was_rejected_measured_and_what_failed_stands_below() {
        let mut report = RunReport {
            rejected: [2, 3, 4]
                .map(|number| RejectedDevice { device: format!("device {number}"), reason: "no peer".to_owned() })
                .to_vec(),
            reference: Some(Reference::new(480.0, 120.0, 700.0)),
            failure: Some(Failure {
                kind: FailureKind::TimedOut,
                worker: Some(0),
                pid: None,
                step: None,
                message: "worker 0 is late".to_owned(),
                exit_code: 13,
                call: None,
                rule: None,
                mismatch: None,
                memory: None,
            }),
            ..report()
        };
        report.workers[0].measured = Some(Rates { fill_gb_s: 355.0, verify_gb_s: 354.0, memset_gb_s: 374.0 });
        let text = report.table();
        let below: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            below,
            [
                "devices 2 to 4 did not take part: no peer",
                "worker 0: fill 355 GB/s (94.9 % of memset), verify 354 GB/s (94.7 %), memset 374 GB/s",
                "the run took 700 ms, 1.17 times the 480 ms of initialisation and the 120 ms of one context",
                "failed (exit code 13): worker 0 is late",
            ]
        );
    }
    #[test]
    fn recorded_calls_are_a_second_table() {
        let report = RunReport { calls: Some(CallSummary::of(&[parent()])), ..report() };
        let text = report.table();
        let (run, calls) = text.split_once("\n\n").unwrap();
        assert!(run.ends_with("ok, 700 ms"), "{text}");
        assert!(calls.trim_start().starts_with("call") && calls.contains("cuInit"), "{text}");
        assert!(!text.ends_with('\n'));
    }
}
