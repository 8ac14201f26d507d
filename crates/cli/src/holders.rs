//! `peermap holders`: who holds what memory of the simulated machines that run.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use peermap_ipc::Deadline;
use peermap_report::{Account, ExitCode};
use peermap_sim::accounts;
use serde::Serialize;

use crate::refusal::Refusal;
use crate::show;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// How long a machine may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Arguments of `holders`.
#[derive(Debug, Args)]
pub(crate) struct Holders {
    /// Only the machine that is this process.
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Print one JSON object on standard output instead of text.
    #[arg(long)]
    json: bool,
}

/// A machine and what it tells.
#[derive(Debug, Serialize)]
struct Machine {
    pid: u32,
    #[serde(flatten)]
    account: Account,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct All {
    schema: u32,
    machines: Vec<Machine>,
}

/// Asks and prints.
pub(crate) fn run(arguments: &Holders) -> ExitCode {
    holders(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn holders(arguments: &Holders) -> Result<ExitCode, Refusal> {
    let told = accounts(arguments.pid, Deadline::after(ANSWER_TIME)).context("the simulated machines cannot be asked");
    let told = told.map_err(Refusal::unexpected)?;
    let machine = |(pid, account)| Machine { pid, account };
    let machines: Vec<Machine> = told.into_iter().map(machine).collect();
    match arguments.pid.filter(|_| machines.is_empty()) {
        Some(pid) => {
            let error = anyhow!("process {pid} is no simulated machine of this user that answers");
            return Err(Refusal::new(ExitCode::BackendUnavailable, error));
        }
        None if machines.is_empty() => show::note("no simulated machine of this user runs"),
        None => {}
    }
    let all = All { schema: SCHEMA, machines };
    let text = if arguments.json {
        serde_json::to_string_pretty(&all).map_err(Refusal::unexpected)?
    } else {
        all.machines.iter().map(text).collect::<Vec<_>>().join("\n")
    };
    let written = writeln!(std::io::stdout(), "{text}").context("the holders cannot be written");
    written.map(|()| ExitCode::Ok).map_err(Refusal::unexpected)
}

fn text(machine: &Machine) -> String {
    let Machine { pid, account } = machine;
    let bytes: u64 = account.held.iter().map(|held| held.bytes).sum();
    let (processes, held) = (account.processes.len(), account.held.len());
    let mut lines = vec![format!(
        "machine {pid} ({}): {processes} processes, {bytes} bytes in {held} allocations",
        account.profile
    )];
    lines.extend(account.lines(true).into_iter().map(|line| format!("  {line}")));
    lines.join("\n")
}
