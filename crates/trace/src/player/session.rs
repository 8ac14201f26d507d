//! A trace while it plays: which process each step belongs to, when processes start and end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::compare::Got;
use super::error::PlayError;
use super::parcel::Parcel;
use super::processes::{End, StartError};
use crate::call::OsStep;
use crate::format::Step;

/// A process of a trace, wherever it lives.
pub trait Actor {
    /// Makes the call of a step.
    fn play(&mut self, step: &Step) -> Got;

    /// Gives a copy of what a `send` sends.
    fn give(&mut self, step: &Step) -> Result<Parcel, Got>;

    /// Takes what another process sent, under a name.
    fn receive(&mut self, name: &str, parcel: Parcel) -> Result<(), Got>;
}

/// Where the processes of a trace live: all in this OS process, or each in one of its own. Only this crate has any.
pub trait Stage {
    /// A process.
    #[doc(hidden)]
    type Actor: Actor;

    /// Starts a process.
    #[doc(hidden)]
    fn start(&mut self, process: u32) -> Result<Self::Actor, StartError>;

    /// Ends a process, and waits until it has.
    #[doc(hidden)]
    fn end(&mut self, process: u32, actor: Self::Actor, how: End);
}

/// The processes of a trace while it plays.
///
/// A process starts at its first step, or when something is sent to it, and ends at the latest when this is dropped. A
/// step that crashes the driver, or that does not come back, ends its process. After a mismatch one can go on; steps that
/// need a value that did not come to be are answered by [`Got::NotPlayed`].
pub struct Session<S: Stage> {
    stage: S,
    /// `None`: the process has ended, or it could not be started.
    processes: BTreeMap<u32, Option<S::Actor>>,
}

impl<S: Stage> Session<S> {
    /// Plays traces here. Each trace wants a session of its own.
    pub const fn new(stage: S) -> Self {
        Self { stage, processes: BTreeMap::new() }
    }

    /// Plays the next step. What it is recorded to answer plays no part.
    pub fn step(&mut self, step: &Step) -> Got {
        let played = match step.call.os_step() {
            Some(OsStep::Send) => self.send(step),
            Some(OsStep::Exit) => self.leave(step, End::Exit),
            Some(OsStep::Kill) => self.leave(step, End::Kill),
            Some(OsStep::OpenFd | OsStep::CloseFd) | None => self.act(step.process, |actor| Ok(actor.play(step))),
        };
        played.unwrap_or_else(|got| got)
    }

    fn send(&mut self, step: &Step) -> Result<Got, Got> {
        let not_played = |error: PlayError| Got::NotPlayed(error);
        let name = step.name.as_deref().ok_or_else(|| not_played(PlayError::MissingArgument { key: "as" }))?;
        let to = super::arguments::Arguments::new(&step.arguments).number("to").map_err(not_played)?;
        let parcel = self.act(step.process, |actor| actor.give(step))?;
        // A process that ends while it takes the parcel is not the one that made the call, but the step failed with it.
        self.act(to, |actor| actor.receive(name, parcel))?;
        Ok(Got::new(step.call, Ok(None)))
    }

    fn leave(&mut self, step: &Step, how: End) -> Result<Got, Got> {
        if let Some(name) = &step.name {
            return Err(Got::NotPlayed(PlayError::NothingToName { name: name.clone(), call: step.call }));
        }
        self.act(step.process, |_| Ok(()))?;
        self.end(step.process, how);
        Ok(Got::new(step.call, Ok(None)))
    }

    /// Lets a process do something, and lets it go if that was its end.
    fn act<T>(&mut self, number: u32, does: impl FnOnce(&mut S::Actor) -> Result<T, Got>) -> Result<T, Got>
    where
        T: Deed,
    {
        let done = does(self.process(number).map_err(Got::NotPlayed)?);
        let ended = match &done {
            Ok(deed) => deed.ends_the_process(),
            Err(got) => got.ends_the_process(),
        };
        if ended {
            self.end(number, End::Kill);
        }
        done
    }

    /// A process that runs; it is started if this is its first step.
    fn process(&mut self, number: u32) -> Result<&mut S::Actor, PlayError> {
        let process = match self.processes.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => match self.stage.start(number) {
                Ok(actor) => new.insert(Some(actor)),
                Err(source) => {
                    new.insert(None);
                    return Err(PlayError::Start { process: number, source });
                }
            },
        };
        process.as_mut().ok_or_else(|| PlayError::NotRunning { process: number })
    }

    fn end(&mut self, number: u32, how: End) {
        if let Some(actor) = self.processes.get_mut(&number).and_then(Option::take) {
            self.stage.end(number, actor, how);
        }
    }
}

impl<S: Stage> Drop for Session<S> {
    fn drop(&mut self) {
        let numbers: Vec<u32> = self.processes.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.end(number, End::Exit));
    }
}

/// What a process did.
trait Deed {
    fn ends_the_process(&self) -> bool {
        false
    }
}

impl Deed for () {}
impl Deed for Parcel {}
impl Deed for Got {
    fn ends_the_process(&self) -> bool {
        Self::ends_the_process(self)
    }
}
