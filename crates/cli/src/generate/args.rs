//! Arguments of what is random.

use std::path::PathBuf;

use clap::Args;
use peermap_report::ExitCode;
use peermap_trace::Weights;

use crate::output::Force;
use crate::refusal::Refusal;

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) random: Random,
    /// The simulated machine that answers; h200-x2 if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// The file to write instead of standard output. It must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
}

/// What random traces are like.
#[derive(Debug, Args)]
pub(crate) struct Random {
    /// Decides everything that is left to chance.
    #[arg(long, value_name = "S")]
    pub(crate) seed: u64,
    /// How many traces.
    #[arg(long, value_name = "N")]
    pub(crate) traces: u64,
    /// How many steps each has.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) steps: usize,
    /// How many processes each has.
    #[arg(long, value_name = "P", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) processes: u32,
    /// How many devices they use.
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) devices: u32,
    /// How often a group of steps is chosen, such as legacy=0; may be given several times.
    #[arg(long = "weight", value_name = "NAME=N")]
    pub(crate) weights: Vec<String>,
}

impl Random {
    pub(crate) fn weights(&self) -> Result<Weights, Refusal> {
        self.weights.iter().try_fold(Weights::default(), |weights, text| {
            let named = text.split_once('=').and_then(|(name, weight)| weights.with(name, weight.parse().ok()?));
            named.ok_or_else(|| {
                let names = Weights::NAMES.join(", ");
                let error = anyhow::anyhow!("--weight {text}: it takes NAME=N, with one of these names: {names}");
                Refusal::new(ExitCode::Usage, error)
            })
        })
    }
}
