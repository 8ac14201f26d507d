//! A trace while it is made: what was played, and what is known from the answers.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::error::GenerateError;
use super::picture::{Backing, Process};
use super::random::Random;
use super::weights::Weights;
use crate::call::StepCall;
use crate::format::Step;
use crate::player::{InOne, Session};
use crate::result::StepResult;

/// Whether a step did what it was asked, or why the trace cannot be finished.
pub(super) type Said = Result<bool, GenerateError>;

/// A trace while it is made.
pub(super) struct Writing<'p> {
    session: Session<InOne<'p>>,
    pub(super) steps: Vec<Step>,
    pub(super) random: Random,
    pub(super) weights: Weights,
    pub(super) devices: u32,
    pub(super) processes: Vec<Process>,
    /// The memory behind allocations, by number.
    pub(super) backings: Vec<Backing>,
    memories: usize,
    pools: usize,
    names: BTreeMap<char, u32>,
}

impl<'p> Writing<'p> {
    pub(super) fn new(session: Session<InOne<'p>>, seed: u64, weights: Weights, processes: u32, devices: u32) -> Self {
        Self {
            session,
            steps: Vec::new(),
            random: Random::new(seed),
            weights,
            devices,
            processes: (0..processes).map(|_| Process::default()).collect(),
            backings: Vec::new(),
            memories: 0,
            pools: 0,
            names: BTreeMap::new(),
        }
    }

    /// A process by number.
    pub(super) fn process(&mut self, number: u32) -> &mut Process {
        &mut self.processes[number as usize]
    }

    /// A name that nothing has yet.
    pub(super) fn name(&mut self, letter: char) -> String {
        let count = self.names.entry(letter).or_default();
        let name = format!("{letter}{count}");
        *count += 1;
        name
    }

    /// The number of memory that did not exist before.
    pub(super) const fn memory(&mut self) -> usize {
        self.memories += 1;
        self.memories - 1
    }

    /// The number of a pool that did not exist before.
    pub(super) const fn pool(&mut self) -> usize {
        self.pools += 1;
        self.pools - 1
    }

    /// The number of the default pool of a device.
    pub(super) fn default_pool(&mut self, process: u32, device: u32) -> usize {
        if let Some(number) = self.process(process).default_pools.get(&device) {
            return *number;
        }
        let number = self.pool();
        self.process(process).default_pools.insert(device, number);
        number
    }

    /// Plays a step that names nothing.
    pub(super) fn say(&mut self, process: u32, call: &'static str, arguments: Json) -> Said {
        self.play(process, call, arguments, None)
    }

    /// Plays a step that names what it gives.
    pub(super) fn name_by(&mut self, process: u32, call: &'static str, arguments: Json, name: &str) -> Said {
        self.play(process, call, arguments, Some(name.to_owned()))
    }

    /// A value that the last step returned.
    pub(super) fn out(&self, key: &str) -> Option<&Json> {
        self.steps.last()?.out.as_ref()?.get(key)
    }

    fn play(&mut self, process: u32, call: &'static str, arguments: Json, name: Option<String>) -> Said {
        let known = StepCall::from_name(call).expect("the generator makes calls of the format only");
        let arguments = match arguments {
            Json::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let line = self.steps.len() as u64 + 2;
        let success = StepResult::success_of(known);
        let mut step = Step { process, call: known, arguments, name, result: success, out: None, line };
        let got = self.session.step(&step);
        let is_wanted = |result: &StepResult| !result.ends_the_process() || self.weights.crashes > 0;
        let Some(result) = got.result().filter(is_wanted) else {
            return Err(GenerateError::NoAnswer { process, step: step.to_string(), got: got.to_string() });
        };
        step.result = result;
        step.out = got.out().cloned();
        self.steps.push(step);
        if result.ends_the_process() {
            self.process(process).ended = true;
        }
        Ok(result.is_success())
    }

    /// Waits for what the current context does, unless the trace is to have work in flight.
    pub(super) fn wait(&mut self, process: u32) -> Result<(), GenerateError> {
        if !self.random.percent(self.weights.in_flight.into()) {
            self.say(process, "cuCtxSynchronize", Json::Null)?;
        }
        Ok(())
    }
}
