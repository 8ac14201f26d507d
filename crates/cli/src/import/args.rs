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
    /// Any program that was run on the same machine, and wrote an object with the key `benchmarks` of a result file:
    /// suite, name, parameters, unit and samples of each.
    Samples(Samples),
}

/// What a program measured, and where.
#[derive(Debug, Args)]
pub(crate) struct Samples {
    /// The file that the program wrote.
    #[arg(value_name = "FILE.json")]
    pub(crate) file: PathBuf,
    /// A result of peermap from the same machine and driver, of which the new one takes what they are.
    #[arg(long, value_name = "RESULT.json")]
    pub(crate) like: PathBuf,
    #[command(flatten)]
    pub(crate) into: Into,
}

/// Files of one tool.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// The files that the tool wrote, one for each run on one machine.
    #[arg(required = true, value_name = "FILE.json")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) into: Into,
}

/// Where the result goes.
#[derive(Debug, Args)]
pub(crate) struct Into {
    /// The result file to write instead of standard output. It must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
}
