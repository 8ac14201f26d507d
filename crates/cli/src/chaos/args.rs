//! Arguments of `chaos`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use peermap_chaos::{Fault, Processes};
use peermap_scenario::access::Access;
use peermap_scenario::compressible::Compressible;
use peermap_scenario::memmap_ipc::MemmapIpc;
use peermap_scenario::pool_ipc::PoolIpc;
use peermap_scenario::simple_ipc::SimpleIpc;
use peermap_scenario::{Options, Relay, Scenario};

/// Arguments of `chaos`.
#[derive(Debug, Args)]
pub(crate) struct Chaos {
    /// What is run.
    #[arg(value_enum)]
    pub(crate) scenario: Name,
    /// How many seeds at most.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// For how long at most, such as 60s or 5m.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) budget: Duration,
    /// Where the processes of a run live.
    #[arg(long, value_enum, default_value = "in-one")]
    pub(crate) processes: Where,
    /// The simulated machine.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) profile: String,
    /// Only this fault, and others that are named: not those of the seed. `kill:2:17` kills worker 2 at its 18th event.
    ///
    /// refuse:WHO:CALL:PICK, kill:WHO:EVENT, stop:WHO:EVENT:MS, lose:WHO:MESSAGE, double:WHO:MESSAGE, cut:WHO:MESSAGE,
    /// delay:WHO:MESSAGE:MS, no-addresses:WHO:EVENT, no-memory:WHO:EVENT, files:WHO:EVENT:MORE, where WHO is parent or the
    /// number of a worker, and everything is counted from 0. Each driver call is two events and each message one.
    #[arg(long, value_name = "FAULT")]
    pub(crate) fault: Vec<Fault>,
    /// Print what happened in each run.
    #[arg(long)]
    pub(crate) log: bool,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the processes of a run live.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Where {
    /// All in this OS process, one running at a time: the same seed gives the same events.
    InOne,
    /// Each in an OS process of its own, with real sockets, shared memory and kills.
    Separate,
}

impl Where {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::InOne => "in-one",
            Self::Separate => "separate",
        }
    }
}

/// Arguments of a process that plays a share of the seeds.
#[derive(Debug, Args)]
pub(crate) struct Share {
    /// Which of how many, and with how many devices at most.
    #[arg(long, num_args = 3)]
    pub(super) share: Vec<u64>,
    #[command(flatten)]
    pub(super) whole: Chaos,
}

/// Arguments of a process that is the parent of one run, and may be killed.
#[derive(Debug, Args)]
pub(crate) struct Alone {
    /// How many devices, how many workers each of them has, and how many milliseconds the run may take.
    #[arg(long, num_args = 3)]
    pub(super) alone: Vec<u32>,
    #[command(flatten)]
    pub(super) whole: Chaos,
}

impl From<Where> for Processes {
    fn from(place: Where) -> Self {
        match place {
            Where::InOne => Self::InOne,
            Where::Separate => Self::Separate,
        }
    }
}

/// The scenarios whose kernels wait for nobody.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Name {
    /// As `run memmap-ipc`.
    MemmapIpc,
    /// As `run simple-ipc`.
    SimpleIpc,
    /// As `run pool-ipc`.
    PoolIpc,
    /// As `run compressible`.
    Compressible,
    /// As `run access`.
    Access,
}

impl Name {
    /// The scenario with these options.
    pub(crate) fn scenario(self, options: Options) -> Scenario {
        let relay = |options| Relay { options, ..Relay::default() };
        match self {
            Self::MemmapIpc => MemmapIpc { options, ..MemmapIpc::default() }.into(),
            Self::SimpleIpc => SimpleIpc(relay(options)).into(),
            Self::PoolIpc => PoolIpc { relay: relay(options), ..PoolIpc::default() }.into(),
            Self::Compressible => Compressible(options).into(),
            Self::Access => Access::new(options).into(),
        }
    }

    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// `60s`, `5m` or `2h`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time such as 60s, 5m or 2h");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs).ok_or_else(wrong)
}
