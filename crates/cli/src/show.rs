//! What a person sees besides data: one line each, on standard error.

use std::io::Write;

/// A line for whoever watches. If nobody does any more, that is no reason to stop.
pub(crate) fn note(text: &str) {
    // What a file says may not steer the terminal.
    drop(writeln!(std::io::stderr(), "peermap: {}", text.replace(char::is_control, " ")));
}

/// Why the command cannot go on.
pub(crate) fn complaint(text: &str) {
    note(&format!("error: {text}"));
}

/// An error with what caused it. Many say their cause themselves; what the one before said already is not said again.
pub(crate) fn whole(error: &anyhow::Error) -> String {
    let mut text = String::new();
    let mut before = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if before.contains(&cause) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause);
        before = cause;
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use peermap_ipc::IpcError;
    use peermap_sim::SimError;

    use super::*;

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let told = IpcError::PeerClosed.to_string();
        let error = anyhow::Error::from(SimError::from(IpcError::PeerClosed)).context("no process");
        assert_eq!(whole(&error), format!("no process: the simulated machine cannot be reached: {told}"));
        assert_eq!(whole(&anyhow!("deep").context("middle").context("outer")), "outer: middle: deep");
    }
}
