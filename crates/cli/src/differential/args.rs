//! Arguments of `differential`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PlayBackend;
use crate::generate::Random;

/// Arguments of `differential`.
#[derive(Debug, Args)]
pub(crate) struct Differential {
    #[command(flatten)]
    pub(crate) random: Random,
    /// Which driver is compared with the simulated machine.
    #[arg(long, value_enum, default_value = "cuda")]
    pub(crate) backend: PlayBackend,
    /// The simulated machine; h200-x2 if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// The simulated machine that is compared with it, with --backend sim; the same if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) against: Option<String>,
    /// How many traces are played at once. Those that fault run alone.
    #[arg(long, value_name = "J", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// The folder for the shrunk traces. It is made if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = "differences")]
    pub(crate) out: PathBuf,
    /// How many seconds a step may take.
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    /// How many shorter traces are tried for each difference.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) tries: usize,
    /// After how many seconds no further trace is begun and nothing further is shrunk.
    #[arg(long, value_name = "S")]
    pub(crate) within: Option<u64>,
}
