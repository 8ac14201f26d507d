//! Arguments of `bugs`.

use clap::Args;

use crate::args::BackendChoice;

/// Arguments of `bugs`.
#[derive(Debug, Args)]
pub(crate) struct Bugs {
    /// Entries such as E3; all of them if none is named.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Which driver. What hardware cannot show is skipped on a GPU, with the reason.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: BackendChoice,
    /// What chance is made from: the same seed plays the same sequences.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many seconds an entry may take.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    /// Print one JSON object on standard output instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}
