//! `--profile-calls`: the driver calls of a run, in a file and summed up.

use std::io::Write;
use std::path::Path;

use peermap_driver::with_causes;
use peermap_report::calls::{CallSummary, ProcessCalls, chrome_trace};
use peermap_report::{ExitCode, Failure, FailureKind, RunReport};

use crate::output::{Output, unwritten};
use crate::refusal::Refusal;
use crate::show;

/// The driver calls of a run, and the file that they go to.
///
/// The file is begun only once there is something to write: a run that is killed leaves nothing behind.
pub(crate) struct CallFile<'a> {
    path: &'a Path,
    calls: Vec<ProcessCalls>,
}

impl<'a> CallFile<'a> {
    /// For a file that can be written as things are now, so that no run is made for nothing.
    pub(crate) fn new(path: &'a Path) -> Result<Self, Refusal> {
        Output::check(path)?;
        Ok(Self { path, calls: Vec::new() })
    }

    /// Where the calls of a run go. What a backend answered before another took its place is no part of it.
    pub(crate) fn calls_of_another_attempt(&mut self) -> &mut Vec<ProcessCalls> {
        self.calls.clear();
        &mut self.calls
    }

    /// Writes the file, and adds to the report what the calls took. That the file cannot be written is a failure of the
    /// run, if it has none yet.
    ///
    /// A run that was asked for what cannot be leaves no file: the next attempt wants its name.
    pub(crate) fn add_to(&self, report: RunReport) -> RunReport {
        let calls = Some(CallSummary::of(&self.calls));
        let wanted = report.exit_code() != ExitCode::Usage && !self.calls.is_empty();
        let written = if wanted { self.write() } else { Ok(()) };
        match (written, report.failure) {
            (Ok(()), failure) => RunReport { calls, failure, ..report },
            (Err(refusal), Some(failure)) => {
                show::note(&with_causes(&*refusal.error));
                RunReport { calls, failure: Some(failure), ..report }
            }
            (Err(refusal), None) => RunReport { calls, ok: false, failure: Some(failure(&refusal)), ..report },
        }
    }

    fn write(&self) -> Result<(), Refusal> {
        let mut output = Output::create(self.path)?;
        chrome_trace(&self.calls).try_for_each(|line| writeln!(output, "{line}")).map_err(unwritten)?;
        output.finish()
    }
}

fn failure(refusal: &Refusal) -> Failure {
    let kind = FailureKind::Unexpected;
    let (message, exit_code) = (with_causes(&*refusal.error), kind.exit_code().code());
    Failure {
        kind,
        message,
        exit_code,
        worker: None,
        pid: None,
        step: None,
        call: None,
        rule: None,
        mismatch: None,
        memory: None,
    }
}
