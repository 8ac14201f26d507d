//! What a person sees besides data: one line each, on standard error.

use std::error::Error;
use std::io::Write;

/// A line for whoever watches. If nobody does any more, that is no reason to stop.
pub(crate) fn note(text: &str) {
    drop(writeln!(std::io::stderr(), "peermap: {text}"));
}

/// Why the command cannot go on.
pub(crate) fn complaint(text: &str) {
    note(&format!("error: {}", text.replace('\n', " ")));
}

/// Why the command cannot go on, with every cause.
pub(crate) fn error(error: &(impl AsRef<dyn Error + 'static> + ?Sized)) {
    let mut text = error.as_ref().to_string();
    let mut cause = error.as_ref().source();
    while let Some(source) = cause {
        text.push_str(&format!(": {source}"));
        cause = source.source();
    }
    complaint(&text);
}
