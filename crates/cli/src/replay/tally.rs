//! What came of the traces.

use std::path::{Path, PathBuf};

use peermap_report::ExitCode;
use peermap_report::junit::Case;
use peermap_trace::{Got, Mismatch, Step};

use super::cases;

/// What came of one trace.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) file: PathBuf,
    pub(super) trace: String,
    pub(super) left_out: Option<LeftOut>,
    pub(super) steps: u64,
    pub(super) matched: u64,
    /// Steps in which a process died.
    pub(super) lost: u64,
    pub(super) mismatches: Vec<Found>,
    pub(super) explanations: Vec<Explained>,
}

/// A step that was answered differently, and the file that its trace is in.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: PathBuf,
    pub(super) mismatch: Mismatch,
}

/// A trace that was not played.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) trace: String,
    pub(super) needs: u32,
    pub(super) devices: u32,
}

/// Why a step fails.
#[derive(Debug)]
pub(super) struct Explained {
    pub(super) trace: String,
    pub(super) step: usize,
    pub(super) line: u64,
    pub(super) process: u32,
    pub(super) call: String,
    pub(super) result: String,
    /// Nothing where the backend cannot tell, as a real driver cannot.
    pub(super) rule: Option<String>,
    pub(super) why: Option<String>,
}

impl Played {
    /// Nothing has come of a trace yet.
    pub(super) fn of(file: &Path, trace: &str) -> Self {
        Self {
            file: file.to_owned(),
            trace: trace.to_owned(),
            left_out: None,
            steps: 0,
            matched: 0,
            lost: 0,
            mismatches: Vec::new(),
            explanations: Vec::new(),
        }
    }

    pub(super) fn left_out(file: &Path, trace: &str, needs: u32, devices: u32) -> Self {
        let left_out = Some(LeftOut { trace: trace.to_owned(), needs, devices });
        Self { left_out, ..Self::of(file, trace) }
    }

    pub(super) const fn differs(&self) -> bool {
        self.matched < self.steps
    }

    /// Counts a step.
    pub(super) fn count(&mut self, differs: bool, mismatch: Option<Found>) {
        self.steps += 1;
        self.matched += u64::from(!differs);
        self.mismatches.extend(mismatch);
    }

    /// Keeps why a step fails.
    pub(super) fn explain(&mut self, trace: &str, index: usize, step: &Step, got: &Got) {
        let reason = got.reason();
        self.explanations.push(Explained {
            trace: trace.to_owned(),
            step: index,
            line: step.line,
            process: step.process,
            call: step.to_string(),
            result: got.result().map_or_else(|| got.to_string(), |result| result.to_string()),
            rule: reason.map(|reason| reason.rule().to_owned()),
            why: reason.map(ToString::to_string).or_else(|| system_refusal(step)),
        });
    }
}

/// A step outside the driver has no rule of the driver's.
fn system_refusal(step: &Step) -> Option<String> {
    step.call.os_step().map(|_| "the operating system refuses it, not the driver".to_owned())
}

/// What came of all traces.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) traces: u64,
    pub(super) steps: u64,
    pub(super) matched: u64,
    /// Steps in which a process died.
    pub(super) lost: u64,
    pub(super) mismatches: Vec<Found>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) explanations: Vec<Explained>,
    /// The traces as test cases.
    pub(super) cases: Vec<Case>,
}

impl Tally {
    pub(super) fn add(&mut self, played: Played) {
        self.cases.push(cases::case(&played));
        let Played { left_out, steps, matched, lost, mismatches, explanations, .. } = played;
        self.traces += u64::from(left_out.is_none());
        self.steps += steps;
        self.matched += matched;
        self.lost += lost;
        self.left_out.extend(left_out);
        self.mismatches.extend(mismatches);
        self.explanations.extend(explanations);
    }

    /// Where a process died, nothing is known about the answers that it would have given. A replay that has compared
    /// nothing has shown nothing.
    pub(super) const fn exit_code(&self) -> ExitCode {
        match self {
            Self { lost: 1.., .. } => ExitCode::WorkerLost,
            Self { steps: 0, left_out, .. } if !left_out.is_empty() => ExitCode::BackendUnavailable,
            Self { steps: 0, .. } => ExitCode::Usage,
            _ if self.matched < self.steps => ExitCode::Mismatch,
            _ => ExitCode::Ok,
        }
    }
}
