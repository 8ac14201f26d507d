//! `peermap generate`.

mod args;

use std::io::{Write, stdout};
use std::time::Duration;

use anyhow::Context;
use peermap_model::Profile;
use peermap_report::ExitCode;
use peermap_trace::{GenerateError, Generator, Machine, Trace, Writer};

pub(crate) use args::{Generate, Random};

use crate::args::{PlayBackend, ProcessMode};
use crate::output::{Output, unwritten};
use crate::play::{InOneProcesses, Place, simulated};
use crate::refusal::Refusal;

/// How long the simulated machine may take to say what it is.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// Generates and writes.
pub(crate) fn run(arguments: &Generate) -> ExitCode {
    generate(arguments).map_or_else(|refusal| refusal.end(false), |()| ExitCode::Ok)
}

fn generate(arguments: &Generate) -> Result<(), Refusal> {
    let source = Source::new(&arguments.random, arguments.profile.as_deref())?;
    let traces = arguments.random.traces;
    let Some(path) = &arguments.out else { return write(&source, traces, stdout().lock()) };
    let mut output = Output::again(path, arguments.force)?;
    write(&source, traces, &mut output)?;
    output.finish()
}

fn write(source: &Source, traces: u64, text: impl Write) -> Result<(), Refusal> {
    let mut writer = Writer::new(text);
    for number in 0..traces {
        writer.trace(&source.trace(number)?).map_err(unwritten)?;
    }
    writer.flush().map_err(unwritten)
}

/// Random traces with the answers of a simulated machine.
pub(crate) struct Source {
    generator: Generator,
    profile: Profile,
}

impl Source {
    /// Decides what is generated.
    pub(crate) fn new(random: &Random, profile: Option<&str>) -> Result<Self, Refusal> {
        let place = Place::choose(PlayBackend::Sim, profile, Some(ProcessMode::InOne), ANSWER_TIME)?;
        let machine = place.machine()?;
        let profile = simulated(profile)?;
        let Random { seed, steps, processes, devices, .. } = *random;
        if devices > machine.gpus {
            let error = anyhow::anyhow!("--devices {devices}: the machine {} has {}", profile.name, machine.gpus);
            return Err(Refusal::new(ExitCode::Usage, error));
        }
        let generator = Generator { seed, steps, processes, devices, weights: random.weights()?, machine };
        Ok(Self { generator, profile })
    }

    /// The machine that answers.
    pub(crate) const fn machine(&self) -> &Machine {
        &self.generator.machine
    }

    /// The trace of a number.
    pub(crate) fn trace(&self, number: u64) -> Result<Trace, Refusal> {
        let fresh = || InOneProcesses::start(&self.profile, None).map_err(Into::into);
        let made: Result<Trace, GenerateError> = self.generator.trace(number, fresh);
        made.with_context(|| format!("trace {number} of seed {} cannot be generated", self.generator.seed))
            .map_err(Refusal::unexpected)
    }
}
