//! Arguments of `bench`.

use std::path::PathBuf;

use clap::Args;

use super::against::Against;
use crate::args::Where;

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// The suites, separated by commas; all of them if not given: control, bandwidth, transport, barrier, scenario.
    #[arg(long = "suite", value_name = "LIST", value_delimiter = ',')]
    pub(crate) suites: Vec<String>,
    /// Of these, only what has this text in its id, such as `size=2 MiB`.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) filter: String,
    #[command(flatten)]
    pub(crate) place: Where,
    /// Fewer sizes and fewer samples: under a minute and a half.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Take exactly so many samples of each, however certain they are and however long it takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) samples: Option<u32>,
    #[command(flatten)]
    pub(crate) against: Against,
    /// The result file to write, with every sample; with --against the folder for the result of each run and the comparison. It
    /// must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the result file on standard output instead of the table; with --against the comparison as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
