//! Why a command ends without a result.

use std::io::Write;

use peermap_driver::with_causes;
use peermap_report::ExitCode;

use crate::show;

/// Why a command ends without a result.
pub(crate) struct Refusal {
    pub(crate) code: ExitCode,
    pub(crate) error: anyhow::Error,
}

impl Refusal {
    pub(crate) fn new(code: ExitCode, error: impl Into<anyhow::Error>) -> Self {
        Self { code, error: error.into() }
    }

    /// What was asked for cannot be.
    pub(crate) fn usage(text: &'static str) -> Self {
        Self::new(ExitCode::Usage, anyhow::Error::msg(text))
    }

    /// Something of this host, not of what was asked.
    pub(crate) fn unexpected(error: impl Into<anyhow::Error>) -> Self {
        Self::new(ExitCode::Unexpected, error)
    }

    /// Says why, and where a program reads the result, also in its place; gives the exit code.
    pub(crate) fn end(self, json: bool) -> ExitCode {
        let Self { code, error } = self;
        end(&with_causes(&*error), code, json)
    }
}

/// The same for a text.
pub(crate) fn end(text: &str, code: ExitCode, json: bool) -> ExitCode {
    show::complaint(text);
    if json {
        // `ok` is what tells a report of a run, too.
        let object = serde_json::json!({ "ok": false, "error": text, "exit_code": code.code() });
        // A reader that is gone can still be told by the exit code.
        drop(writeln!(std::io::stdout(), "{object}"));
    }
    code
}
