//! `peermap bugs`: the scoreboard of known bugs.

mod args;
mod present;

use std::time::Duration;

use peermap_bugs::{Entry, Launch, Played, play};
use peermap_driver::with_causes;
use peermap_report::ExitCode;

pub(crate) use args::Bugs;

use crate::args::{BackendChoice, PlayBackend};
use crate::backend::device_files;
use crate::hidden::executable;
use crate::play::Place;
use crate::refusal::Refusal;
use crate::show;

/// The hidden subcommand that plays an entry.
const PLAYER: &str = "__bug";

/// How long the real driver may take to say which devices there are.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// An entry and what came of it.
struct Line {
    entry: &'static Entry,
    played: Played,
}

/// Plays and prints.
pub(crate) fn run(arguments: &Bugs) -> ExitCode {
    bugs(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn bugs(arguments: &Bugs) -> Result<ExitCode, Refusal> {
    let chosen = peermap_bugs::choose(&arguments.ids).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    let backend = backend(arguments.backend)?;
    let launch = launch(backend).map_err(Refusal::unexpected)?;
    let limit = Duration::from_secs(arguments.timeout);
    let mut lines = Vec::with_capacity(chosen.len());
    for entry in chosen {
        let played = play(entry, &launch, arguments.seed, limit).map_err(Refusal::unexpected)?;
        lines.push(Line { entry, played });
    }
    present::print(backend, arguments.seed, &lines, arguments.json)
}

/// The backend by name. Nothing is initialised in this process: entries have processes of their own.
fn backend(choice: BackendChoice) -> Result<&'static str, Refusal> {
    let devices = || Place::choose(PlayBackend::Cuda, None, None, ANSWER_TIME)?.devices();
    match choice {
        BackendChoice::Sim => Ok("sim"),
        BackendChoice::Cuda => devices().map(|_| "cuda"),
        BackendChoice::Auto if device_files() == 0 => {
            show::note("simulating: no /dev/nvidia0 on this host");
            Ok("sim")
        }
        BackendChoice::Auto => Ok(devices().map_or_else(
            |refusal| {
                show::note(&format!("simulating: {}", with_causes(&*refusal.error)));
                "sim"
            },
            |_| "cuda",
        )),
    }
}

/// How this executable is started again to play an entry.
pub(crate) fn launch(backend: &str) -> anyhow::Result<Launch> {
    let exe = executable()?;
    Ok(Launch { exe, args: [PLAYER, "--backend", backend].map(str::to_owned).to_vec() })
}
