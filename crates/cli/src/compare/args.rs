//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;
use peermap_report::bench::Threshold;

use crate::output::Force;

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The result that counts as good.
    #[arg(value_name = "BASE.json")]
    pub(crate) base: PathBuf,
    /// The result that is judged.
    #[arg(value_name = "NEW.json")]
    pub(crate) new: PathBuf,
    /// A further run of the base; may be given several times. With several runs, the median of each is one sample, and four on
    /// each side are the fewest that give a verdict.
    #[arg(long = "base", value_name = "FILE")]
    pub(crate) more_base: Vec<PathBuf>,
    /// A further run of the new result; may be given several times.
    #[arg(long = "new", value_name = "FILE")]
    pub(crate) more_new: Vec<PathBuf>,
    /// The runs of both sides were made in turns, each of the base together with the new one at its place. The ratios are those of
    /// the pairs, of which six are the fewest; fewer are compared as without this.
    #[arg(long)]
    pub(crate) paired: bool,
    /// The smallest change that matters: 5% or 0.05.
    #[arg(long, value_name = "SHARE", default_value = "5%", allow_hyphen_values = true)]
    pub(crate) threshold: Threshold,
    /// Compare even what comes from machines that differ; the differences are listed.
    #[arg(long)]
    pub(crate) across_machines: bool,
    /// Print one JSON object on standard output instead of the table.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown on standard output instead of the table, as a comment on a change.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Also write the comparison as a page to this file, which must not be there yet. It loads nothing from elsewhere.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write a test case for each benchmark to this file, in the XML of JUnit. It must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
}
