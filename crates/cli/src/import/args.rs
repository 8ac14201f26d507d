//! Arguments of `import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::Force;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) tool: Tool,
}

/// The tools whose results are understood.
#[derive(Debug, Subcommand)]
pub(crate) enum Tool {
    /// NVIDIA's nvbandwidth, run with --format json.
    ///
    /// One run gives one sample of each cell of its matrices. A comparison takes four on each side, so give the files of several runs.
    Nvbandwidth(Files),
}

/// Files of one tool.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// The files that the tool wrote, one for each run on one machine.
    #[arg(required = true, value_name = "FILE.json")]
    pub(crate) files: Vec<PathBuf>,
    /// The result file to write instead of standard output. It must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
}
