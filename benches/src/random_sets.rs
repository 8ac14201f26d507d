//! The recordings of random calls, played by the player on a simulated machine in this OS process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use peermap_driver::{ByteSize, Call, Driver, DriverError, Intercepted, Interceptor, Value};
use peermap_sim::{SimMachine, SimProcess};
use peermap_trace::{Expected, Got, InOne, Processes, Reader, Session, StartError, Step, Trace};

use crate::timing::time;

const SETS: [&str; 3] = ["random_1.jsonl", "random_2.jsonl", "random_peer.jsonl"];

/// The machine that they were recorded on.
const PROFILE: &str = "h200-x2";

/// From here on a copy or a fill is one of a whole mapping: in the sets they have up to 8 KiB, or the 2 MiB and more of a
/// mapping but for some bytes.
const WHOLE_MAPPING: ByteSize = ByteSize::mib(1);

/// What calls took.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Tally {
    /// How many calls count.
    pub counted: u32,
    /// How many calls do not.
    pub apart: u32,
    /// How long the calls took that count.
    pub time: Duration,
}

/// The random sets, read.
///
/// What is judged is the time of each call of the [`Driver`] that the player makes, with one reading of the clock. What the
/// player does around it is no simulated call: it finds arguments by name in the JSON of a step, which is the second half
/// of parsing, and makes JSON of the answer. Whole steps are timed too, by themselves, so that nothing hides there.
///
/// Every call counts but those that export or import a descriptor, those that copy a whole mapping, and those that run a
/// queued fill of one. So refused calls count, calls that only queue a fill, and small copies and fills with the first
/// touch of their memory. Of the calls that copy a whole mapping the refused ones are left out with the others, because the
/// player sets up as much host memory for them.
pub struct RandomSets {
    scripts: Vec<Script>,
}

/// A trace, and which of its steps make a call that counts.
struct Script {
    trace: Trace,
    counts: Vec<bool>,
}

impl RandomSets {
    /// Reads the sets of the repository, and plays them once to see which calls count.
    ///
    /// # Panics
    /// If one of them is not there or not as it was recorded.
    #[must_use]
    pub fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/traces");
        let open = |set| BufReader::new(File::open(folder.join(set)).expect("a recording"));
        let traces = SETS.into_iter().flat_map(|set| Reader::new(open(set)));
        Self { scripts: traces.map(|trace| Script::new(trace.expect("a recording that can be read"))).collect() }
    }

    /// Plays each trace on a machine of its own and times the calls.
    ///
    /// # Panics
    /// If the host cannot back a machine, or a step is not answered as it was recorded.
    #[must_use]
    pub fn play_calls(&self) -> Tally {
        let meter = Meter::default();
        self.scripts.iter().for_each(|script| drop(play_calls(&script.trace, &meter)));
        *meter.tally()
    }

    /// Plays each trace on a machine of its own and times the steps whose calls count, the player's work included.
    ///
    /// # Panics
    /// As [`RandomSets::play_calls`].
    #[must_use]
    pub fn play_steps(&self) -> Duration {
        self.scripts.iter().map(Script::play_steps).sum()
    }
}

impl Script {
    fn new(trace: Trace) -> Self {
        let counts = play_calls(&trace, &Meter::default());
        Self { trace, counts }
    }

    fn play_steps(&self) -> Duration {
        let mut started = Started::of(&self.trace, |process| Box::new(process));
        let mut session = Session::new(InOne::new(&mut started));
        // A copy is in the cache, as a step is that was just read: whoever replays a file reads each step before playing it.
        let steps = self.trace.steps.clone();
        let mut got = Vec::with_capacity(steps.len());
        let mut spent = Duration::ZERO;
        // Neighbours that count are timed together, so that the clock is read less often.
        for run in self.counts.chunk_by(bool::eq) {
            let steps = &steps[got.len()..][..run.len()];
            let taken = time(|| got.extend(steps.iter().map(|step| session.step(step))));
            spent += if run[0] { taken } else { Duration::ZERO };
        }
        got.iter().zip(&steps).for_each(|(got, step)| check(got, step));
        spent
    }
}

/// Plays a trace and says which of its steps make a call that counts.
fn play_calls(trace: &Trace, meter: &Meter) -> Vec<bool> {
    let watched = |process| Box::new(Intercepted::new(process, Watch::new(meter.clone()))) as Box<dyn Driver>;
    let mut started = Started::of(trace, watched);
    let mut session = Session::new(InOne::new(&mut started));
    let mut play = |step: &Step| {
        let before = meter.tally().counted;
        check(&session.step(step), step);
        meter.tally().counted > before
    };
    trace.steps.iter().map(&mut play).collect()
}

fn check(got: &Got, step: &Step) {
    assert!(got.matches(&Expected::from(step)), "line {}: {step} is answered by {got}", step.line);
}

/// The processes of a trace, which run before it is played.
struct Started(BTreeMap<u32, Box<dyn Driver>>);

impl Started {
    fn of(trace: &Trace, driver: impl Fn(SimProcess) -> Box<dyn Driver>) -> Self {
        let machine = SimMachine::named(PROFILE).expect("the host can back a machine");
        let start = |process| (process, driver(machine.process().expect("the host can back a process")));
        let numbers: BTreeSet<u32> = trace.steps.iter().map(|step| step.process).collect();
        Self(numbers.into_iter().map(start).collect())
    }
}

impl Processes for Started {
    fn start(&mut self, process: u32) -> Result<Box<dyn Driver>, StartError> {
        Ok(self.0.remove(&process).expect("a process starts once"))
    }
}

/// Adds up what all processes do.
#[derive(Clone, Default)]
struct Meter(Arc<Mutex<Tally>>);

impl Meter {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sees the calls of one process.
struct Watch {
    meter: Meter,
    seen: Mutex<Seen>,
}

struct Seen {
    /// When the call began.
    began: Instant,
    /// Whether it copies or fills a whole mapping.
    is_whole: bool,
    /// Whether a fill of a whole mapping is queued.
    fill_waits: bool,
}

impl Watch {
    fn new(meter: Meter) -> Self {
        Self { meter, seen: Mutex::new(Seen { began: Instant::now(), is_whole: false, fill_waits: false }) }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interceptor for Watch {
    fn before(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<(), DriverError> {
        let is_whole = |(_, value): (_, Value)| matches!(value, Value::Bytes(bytes) if bytes >= WHOLE_MAPPING.get());
        let moves_bytes = matches!(call, Call::cuMemsetD8 | Call::cuMemcpyDtoH | Call::cuMemcpyHtoD);
        let is_whole = moves_bytes && arguments().into_iter().any(is_whole);
        let mut seen = self.seen();
        seen.is_whole = is_whole;
        seen.began = Instant::now();
        Ok(())
    }

    fn after(&self, call: Call, error: Option<&DriverError>) {
        let ended = Instant::now();
        let mut seen = self.seen();
        let taken = ended - seen.began;
        let is_apart = match call {
            Call::cuMemExportToShareableHandle | Call::cuMemImportFromShareableHandle => true,
            Call::cuMemcpyDtoH | Call::cuMemcpyHtoD => seen.is_whole || (error.is_none() && seen.fill_waits),
            Call::cuCtxSynchronize => seen.fill_waits,
            _ => false,
        };
        if error.is_none() {
            seen.fill_waits = match call {
                Call::cuMemsetD8 => seen.fill_waits || seen.is_whole,
                // These wait for the null stream, which is the only one of the sets.
                Call::cuMemcpyDtoH | Call::cuMemcpyHtoD | Call::cuCtxSynchronize => false,
                _ => seen.fill_waits,
            };
        }
        self.meter.tally().note(is_apart, taken);
    }
}

impl Tally {
    fn note(&mut self, is_apart: bool, taken: Duration) {
        if is_apart {
            self.apart += 1;
        } else {
            self.counted += 1;
            self.time += taken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_counted_or_apart_and_none_twice() {
        let sets = RandomSets::read();
        let steps = sets.scripts.iter().flat_map(|script| &script.trace.steps);
        let calls = steps.filter(|step| step.call.driver_call().is_some()).count();
        let Tally { counted, apart, .. } = sets.play_calls();
        assert_eq!((counted + apart) as usize, calls);
        let counting = sets.scripts.iter().flat_map(|script| &script.counts).filter(|counts| **counts).count();
        assert_eq!(counted as usize, counting);
    }
}
