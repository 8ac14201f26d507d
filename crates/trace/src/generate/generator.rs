//! Which group of steps comes next, and which process makes it.

use serde_json::json;

use super::error::GenerateError;
use super::random::Random;
use super::weights::Weights;
use super::writing::Writing;
use crate::format::{Header, Machine, Needs, Trace};
use crate::player::{InOne, Processes, Session, StartError};

/// How often a trace is begun anew where a step would crash the driver or is not modelled.
const ATTEMPTS: u64 = 20;

/// Makes random traces. The same generator gives the same trace for the same number, on the same backend.
#[derive(Clone, Debug)]
pub struct Generator {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// How many steps a trace has.
    pub steps: usize,
    /// How many processes a trace has.
    pub processes: u32,
    /// How many devices they use.
    pub devices: u32,
    /// How often what is chosen.
    pub weights: Weights,
    /// The machine that the backend simulates, for the headers.
    pub machine: Machine,
}

/// What makes steps of one group.
type Group = fn(&mut Writing<'_>, u32) -> Result<(), GenerateError>;

impl Generator {
    /// Makes a trace by playing it on machines that `fresh` gives: one, or several where the first attempts do not come
    /// to an end. The answers are those of the machine.
    ///
    /// # Errors
    /// - [`GenerateError::Nothing`]: there are no processes or no devices.
    /// - [`GenerateError::Machine`]: there is no machine.
    /// - [`GenerateError::NoAnswer`]: every attempt met a step without an answer.
    pub fn trace<P: Processes>(
        &self,
        number: u64,
        mut fresh: impl FnMut() -> Result<P, StartError>,
    ) -> Result<Trace, GenerateError> {
        let Self { processes, devices, .. } = *self;
        if processes == 0 || devices == 0 {
            return Err(GenerateError::Nothing { processes, devices });
        }
        let mut attempt = |attempt| self.attempt(number, attempt, &mut fresh().map_err(GenerateError::Machine)?);
        let mut last = attempt(0);
        for number in 1..ATTEMPTS {
            match last {
                Err(GenerateError::NoAnswer { .. }) => last = attempt(number),
                Ok(_) | Err(_) => break,
            }
        }
        last
    }

    fn attempt(&self, number: u64, attempt: u64, machine: &mut dyn Processes) -> Result<Trace, GenerateError> {
        let mut seeds = Random::new(self.seed ^ number.rotate_left(32) ^ attempt.rotate_left(56));
        let session = Session::new(InOne::new(machine));
        let mut writing = Writing::new(session, seeds.next(), self.weights, self.processes, self.devices);
        for process in 0..self.processes {
            start(&mut writing, process)?;
        }
        while writing.steps.len() < self.steps
            && let Some(process) = next_process(&mut writing)
        {
            next_group(&mut writing, process)(&mut writing, process)?;
        }
        let mut steps = writing.steps;
        steps.truncate(self.steps);
        Ok(Trace { header: self.header(number), line: 1, steps })
    }

    fn header(&self, number: u64) -> Header {
        let Self { seed, processes, devices, .. } = self;
        Header {
            name: format!("generated-{seed}-{number}-p{processes}-d{devices}"),
            about: format!("random calls: seed {seed}, trace {number}, {processes} processes, {devices} devices"),
            machine: self.machine.clone(),
            needs: Needs { devices: *devices },
        }
    }
}

/// Most processes have a context from the beginning.
fn start(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    writing.say(process, "cuInit", json!({}))?;
    writing.process(process).started = true;
    if writing.random.percent(95) {
        super::context::create(writing, process, process % writing.devices)?;
    }
    Ok(())
}

fn next_process(writing: &mut Writing<'_>) -> Option<u32> {
    let running: Vec<u32> = (0..).zip(&writing.processes).filter(|(_, p)| !p.ended).map(|(number, _)| number).collect();
    writing.random.pick(&running).copied()
}

fn next_group(writing: &mut Writing<'_>, process: u32) -> Group {
    if writing.process(process).after_fault.is_some() {
        return super::fault::after;
    }
    let weights = writing.weights;
    let groups: [(u32, Group); 12] = [
        (weights.physical, super::physical::choose),
        (weights.mapping, super::mapping::choose),
        (weights.copies, super::copy::choose),
        (weights.queries, super::query::choose),
        (weights.descriptors, super::share::choose),
        (weights.legacy, super::legacy::choose),
        (weights.pools, super::pool::choose),
        (weights.multicast, super::multicast::choose),
        (weights.events, super::event::choose),
        (weights.contexts, super::context::choose),
        (weights.ends, super::share::end),
        (weights.faults, super::fault::choose),
    ];
    let sum: u64 = groups.iter().map(|(weight, _)| u64::from(*weight)).sum();
    let mut left = writing.random.below(sum);
    for (weight, group) in groups {
        match left.checked_sub(weight.into()) {
            Some(rest) => left = rest,
            None => return group,
        }
    }
    super::query::choose
}
