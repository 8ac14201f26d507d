//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Result files. The last is shown in full and compared with the first; three and more also make a history.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The page to write, over what is there. It loads nothing from elsewhere.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}
