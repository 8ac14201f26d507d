//! The `peermap` command.
//!
//! It brings backends and scenarios together: nothing else names a backend. Data goes to standard output, progress and
//! errors to standard error, and the exit codes are those of [`peermap_report::ExitCode`].

mod args;
mod atlas;
mod backend;
mod bench;
mod bugs;
mod call_file;
mod chaos;
mod compare;
mod differential;
mod generate;
mod hidden;
mod holders;
mod import;
mod launch;
mod output;
mod play;
mod probe;
mod provenance;
#[cfg(feature = "mpi")]
mod ranks;
mod record;
mod refusal;
mod render;
mod replay;
mod results;
mod run;
mod show;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return args::refuse(&error),
    };
    let code = match arguments.command {
        Command::Run(run) => run::run(&run),
        Command::Probe(probe) => probe::run(&probe),
        Command::Bench(bench) => bench::run(&bench),
        Command::Bugs(bugs) => bugs::run(&bugs),
        Command::Chaos(chaos) => chaos::run(&chaos),
        Command::Holders(holders) => holders::run(&holders),
        Command::Launch(launch) => launch::run(&launch),
        Command::Replay(replay) => replay::run(&replay),
        Command::Record(record) => record::run(&record),
        Command::Report(report) => render::run(&report),
        Command::Atlas(atlas) => atlas::run(&atlas),
        Command::Generate(generate) => generate::run(&generate),
        Command::Differential(differential) => differential::run(&differential),
        Command::Compare(compare) => compare::run(&compare),
        Command::Import(import) => import::run(&import),
        Command::Player(player) => return hidden::player(&player),
        Command::Bug(bug) => return hidden::bug(&bug),
        Command::Share(share) => return hidden::share(&share),
        Command::Alone(alone) => return hidden::alone(&alone),
        Command::Partner(partner) => return hidden::partner(&partner),
        Command::Worker(worker) => return hidden::worker(&worker),
        Command::Machine(machine) => return hidden::machine(&machine),
    };
    ExitCode::from(code.code())
}
