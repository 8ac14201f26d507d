//! The command line.

use std::path::PathBuf;
use std::process::ExitCode as ProcessExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use peermap_chaos::Fault;
use peermap_model::Profile;
use peermap_report::ExitCode;
use peermap_sim::Checks;

use crate::bench::Bench;
use crate::bugs::Bugs;
use crate::chaos::{Alone, Chaos, Share};
use crate::compare::Compare;
use crate::differential::Differential;
use crate::generate::Generate;
use crate::holders::Holders;
use crate::import::Import;
use crate::launch::Launch;
use crate::output::Force;
use crate::refusal;
use crate::render::Report;
use crate::run::Run;

/// A test and benchmark lab for sharing GPU memory between processes.
#[derive(Debug, Parser)]
#[command(name = "peermap", version, after_help = exit_codes(), disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario: real processes that share memory, on GPUs or on simulated ones.
    #[command(after_help = exit_codes())]
    Run(Run),
    /// Say what sharing each device supports, found by trying, and what limits of this host bite.
    #[command(after_help = exit_codes())]
    Probe(Probe),
    /// Measure what sharing costs and how fast bytes move, on this machine's GPUs or on simulated ones.
    #[command(after_help = exit_codes())]
    Bench(Bench),
    /// Play the known bugs about shared GPU memory, and say what catches each.
    #[command(after_help = exit_codes())]
    Bugs(Bugs),
    /// Run a scenario again and again while something goes wrong: calls fail, processes die or stop, messages are lost.
    ///
    /// A seed decides what goes wrong, and in one process the order of everything. Whatever happens, the run must end as it
    /// should, and nothing may be left.
    ///
    /// For example: peermap chaos memmap-ipc --seeds 10000 --budget 5m
    #[command(after_help = exit_codes())]
    Chaos(Chaos),
    /// Say who holds what memory of the simulated machines that run, what processes left there, and what they misused.
    #[command(after_help = exit_codes())]
    Holders(Holders),
    /// Launch one kernel of a PTX file, on a GPU or on a simulated one, and say what its buffers hold then.
    ///
    /// For example: peermap launch fill.ptx --entry fill --block 64 --arg buf:64 --arg u64:64 --arg u8:7
    #[command(after_help = exit_codes())]
    Launch(Launch),
    /// Play recorded driver calls and compare every answer with the recording.
    #[command(after_help = exit_codes())]
    Replay(Replay),
    /// Play recorded driver calls and write down what this driver answers.
    #[command(after_help = exit_codes())]
    Record(Record),
    /// Make a page of results of benchmarks: verdicts, figures by size and between devices, histories.
    ///
    /// For example: peermap report base.json new.json --out report.html
    #[command(after_help = exit_codes())]
    Report(Report),
    /// Say which call answers which error by which rule, who shows it, and how many recorded steps reach it.
    #[command(after_help = exit_codes())]
    Atlas(Atlas),
    /// Write random driver calls with the answers of a simulated machine.
    #[command(after_help = exit_codes())]
    Generate(Generate),
    /// Play random driver calls on two backends, and shrink what they answer differently.
    #[command(after_help = exit_codes())]
    Differential(Differential),
    /// Say whether benchmarks became slower, from two results.
    #[command(after_help = exit_codes())]
    Compare(Compare),
    /// Turn what another tool measured into a result that can be compared.
    #[command(after_help = exit_codes())]
    Import(Import),
    /// A process of a trace.
    #[command(name = "__player", hide = true)]
    Player(Worker),
    /// A process that plays a known bug.
    #[command(name = "__bug", hide = true)]
    Bug(Worker),
    /// A process that plays a share of the seeds of `chaos`.
    #[command(name = "__chaos", hide = true)]
    Share(Share),
    /// The parent of one run of `chaos`.
    #[command(name = "__parent", hide = true)]
    Alone(Alone),
    /// The other process of a benchmark.
    #[command(name = "__partner", hide = true)]
    Partner(Worker),
    /// A worker of a run.
    #[command(name = "__worker", hide = true)]
    Worker(Worker),
    /// The process of a simulated machine.
    #[command(name = "__machine", hide = true)]
    Machine(Machine),
}

/// Which driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendChoice {
    /// The real driver where a device answers, else the simulator.
    Auto,
    /// The simulator.
    Sim,
    /// The real driver.
    Cuda,
}

/// Arguments that say where something runs.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// Which driver.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: BackendChoice,
    /// The simulated machine; with --backend auto it chooses the simulator.
    #[arg(long, value_name = "NAME", help = profiles())]
    pub(crate) profile: Option<String>,
}

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub(crate) struct Probe {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Print one JSON object on standard output instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which driver plays traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlayBackend {
    /// The simulator.
    Sim,
    /// The real driver.
    Cuda,
}

/// Where the processes of a trace live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProcessMode {
    /// All in this OS process; simulator only.
    InOne,
    /// Each in an OS process of its own, with real descriptors between them.
    Separate,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Traces: JSON Lines, format version 1.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Which driver.
    #[arg(long, value_enum, default_value = "sim")]
    pub(crate) backend: PlayBackend,
    /// The simulated machine; h200-x2 if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Where the processes of a trace live; in-one on the simulator if not given, always separate on a real driver.
    #[arg(long, value_enum, value_name = "in-one|separate")]
    pub(crate) processes: Option<ProcessMode>,
    /// How many seconds a step of a separate process may take, and its start, which gets at least 5.
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    /// How many traces are played at once. Those that read free memory or fault run alone.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Also write a test case for each trace to this file, in the XML of JUnit. It must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
    /// For each step that is recorded to fail, say why: the rule, the values, what they collide with.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print one JSON object on standard output instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct Record {
    /// The file to write. It must not be there yet, and is there once everything is recorded.
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Traces whose steps are played.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Which driver.
    #[arg(long, value_enum, default_value = "cuda")]
    pub(crate) backend: PlayBackend,
    /// The simulated machine, with --backend sim; h200-x2 if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// How many seconds a step may take; one that takes longer is recorded as TIMEOUT.
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
}

/// Arguments of `atlas`.
#[derive(Debug, Args)]
pub(crate) struct Atlas {
    /// Traces to count instead of the recordings in the command.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Also write a page that loads nothing to this file, which must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
    /// Leave out the recording that moves gigabytes.
    #[arg(long, conflicts_with = "files")]
    pub(crate) quick: bool,
    /// Print one JSON object on standard output instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of a worker process: descriptor 3 is the channel of its run, 4 its way to a simulated machine.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[arg(long, value_enum)]
    pub(crate) backend: BackendChoice,
    /// For how many milliseconds calls of a simulated driver wait for a whole team.
    #[arg(long)]
    pub(crate) team_ms: Option<u64>,
    /// What goes wrong in it.
    #[arg(long)]
    pub(crate) fault: Vec<Fault>,
}

/// Arguments of a machine process: descriptor 3 is its control channel.
#[derive(Debug, Args)]
pub(crate) struct Machine {
    #[arg(long)]
    pub(crate) profile: String,
    #[arg(long, default_value = "none")]
    pub(crate) check: Checks,
}

/// What `--profile` is, with the names that there are.
fn profiles() -> String {
    let names = Profile::names().join(", ");
    format!("The simulated machine: {names}; \"{}\" if not given. It chooses the simulator", Profile::DEFAULT)
}

/// The exit codes, for the end of a help text.
pub(crate) fn exit_codes() -> String {
    let mut text = "Exit codes:".to_owned();
    for code in ExitCode::ALL {
        text.push_str(&format!("\n  {:>2}  {}", code.code(), code.meaning()));
    }
    text
}

/// Ends the command where the arguments are wrong, or help or version was asked for.
pub(crate) fn refuse(error: &clap::Error) -> ProcessExitCode {
    if !error.use_stderr() {
        // If the terminal is gone there is nobody left to tell.
        drop(error.print());
        return ProcessExitCode::from(ExitCode::Ok.code());
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !wants_json() {
        // Nothing is wrong but that nothing was asked for; if the terminal is gone there is nobody left to tell.
        drop(error.print());
        return ProcessExitCode::from(ExitCode::Usage.code());
    }
    let text = one_line(&error.render().to_string());
    ProcessExitCode::from(refusal::end(&text, ExitCode::Usage, wants_json()))
}

/// Whether JSON was asked for, in arguments that cannot be understood.
fn wants_json() -> bool {
    std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// What is wrong with the arguments, without the lines that say how they are used in general.
fn one_line(rendered: &str) -> String {
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let said: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:")).collect();
    let said = said.into_iter().filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    format!("{}; --help lists everything", said.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_lists_every_exit_code() {
        let help = Arguments::command().render_long_help().to_string();
        for code in ExitCode::ALL {
            assert!(help.contains(&format!("{:>2}  {}", code.code(), code.meaning())), "{help}");
        }
    }
}
