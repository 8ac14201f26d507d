//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use crate::output::Force;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Result files. The last is shown in full and, without --base, compared with the first; three and more make a history.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// A run that the files are compared with, in place of the first of them; may be given several times. With several runs,
    /// the median of each is one sample, and four on each side are the fewest that give a verdict.
    #[arg(long, value_name = "FILE")]
    pub(crate) base: Vec<PathBuf>,
    /// The page to write. It loads nothing from elsewhere, and must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) force: Force,
}
