//! Options of `bench --against`.

use std::path::PathBuf;

use clap::Args;
use peermap_report::bench::Threshold;

/// Options of `bench --against`.
#[derive(Debug, Args)]
pub(crate) struct Against {
    /// Measure in turns with another build, which counts as good, and say what this one does slower: an executable, or a git
    /// revision, which is built first in a folder of its own. Exit codes and output are those of `peermap compare`.
    ///
    /// For example: peermap bench --quick --suite control --against main
    #[arg(long = "against", value_name = "BINARY|REV")]
    pub(crate) other: Option<PathBuf>,
    /// How often each build is measured. Below six, what the two of a pair share is not told apart.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "other", value_parser = clap::value_parser!(u32).range(4..=99))]
    pub(crate) pairs: u32,
    /// With --against, the smallest change that matters: 5% or 0.05.
    #[arg(long, value_name = "SHARE", default_value = "5%", requires = "other", allow_hyphen_values = true)]
    pub(crate) threshold: Threshold,
    /// With --against, print Markdown on standard output instead of the table, as a comment on a change.
    #[arg(long, requires = "other", conflicts_with = "json")]
    pub(crate) markdown: bool,
}
