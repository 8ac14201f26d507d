//! What a person sees while benchmarks run: how far they are, and how long it will take.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use peermap_bench::Progress;

/// A bar on a terminal, nothing elsewhere: what was left out stands below the table.
pub(super) struct Watch {
    bar: ProgressBar,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { bar: bar() }
    }

    pub(super) fn see(&self, progress: &Progress) {
        match progress {
            Progress::Planned(groups) => self.bar.set_length(*groups as u64),
            Progress::Begins(id) => self.bar.set_message(id.clone()),
            Progress::Ended(_) | Progress::Skipped(_) => self.bar.inc(1),
        }
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar on a terminal, without a length yet.
pub(super) fn bar() -> ProgressBar {
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {wide_msg}") {
        bar.set_style(style);
    }
    bar
}
