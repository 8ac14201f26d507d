//! `peermap replay`.

mod cases;
mod jobs;
mod present;
mod tally;

use std::path::Path;
use std::time::Duration;

use peermap_report::ExitCode;
use peermap_trace::{Expected, Header, Mismatch};

pub(crate) use jobs::must_run_alone;

use crate::args::Replay;
use crate::output::Output;
use crate::play::{Place, Steps, each_trace};
use crate::refusal::Refusal;
use tally::{Found, Played, Tally};

/// Plays the traces, compares and prints.
pub(crate) fn run(arguments: &Replay) -> ExitCode {
    let json = arguments.json;
    replay(arguments).unwrap_or_else(|refusal| refusal.end(json))
}

fn replay(arguments: &Replay) -> Result<ExitCode, Refusal> {
    let junit = arguments.junit.as_deref().map(|path| Output::again(path, arguments.force)).transpose()?;
    let tally = play_files(arguments)?;
    if let Some(junit) = junit {
        junit.write_whole(&cases::xml(&tally))?;
    }
    present::print(&tally, arguments.json)
}

fn play_files(arguments: &Replay) -> Result<Tally, Refusal> {
    let limit = Duration::from_secs(arguments.timeout);
    let place = Place::choose(arguments.backend, arguments.profile.as_deref(), arguments.processes, limit)?;
    let replay = Replaying { devices: place.devices()?, place, explain: arguments.explain, json: arguments.json };
    if arguments.jobs > 1 {
        return jobs::play(&replay, &arguments.files, arguments.jobs);
    }
    let mut tally = Tally::default();
    for file in &arguments.files {
        each_trace(file, |header, steps| {
            let played = replay.trace(file, &header, steps)?;
            present::progress(&played, arguments.json)?;
            tally.add(played);
            Ok(())
        })?;
    }
    Ok(tally)
}

/// What all traces have in common.
struct Replaying {
    place: Place,
    devices: u32,
    explain: bool,
    json: bool,
}

impl Replaying {
    /// Plays a trace and compares every answer, unless the trace needs more devices than there are. Its processes see as
    /// many devices as where it was recorded, if there are so many.
    fn trace(&self, file: &Path, header: &Header, steps: &mut Steps<'_>) -> Result<Played, Refusal> {
        if header.needs.devices > self.devices {
            return Ok(Played::left_out(file, &header.name, header.needs.devices, self.devices));
        }
        let mut played = Played::of(file, &header.name);
        self.place.play(Some(header.devices_to_see(self.devices)), steps, |index, step, got| {
            if self.explain && !step.result.is_success() {
                played.explain(&header.name, index, step, &got);
            }
            let differs = !got.matches(&Expected::from(step));
            let is_lost = got.is_lost();
            // Of a trace only the first one is printed, and what decides the exit code, but a program gets them all.
            let mismatch = differs
                .then(|| Found { file: file.to_owned(), mismatch: Mismatch::new(&header.name, index, step, got) });
            played.count(differs, mismatch.filter(|_| self.json || is_lost || !played.differs()));
            played.lost += u64::from(is_lost);
            Ok(())
        })?;
        Ok(played)
    }
}
