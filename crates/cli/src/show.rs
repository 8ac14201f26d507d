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
