//! The recordings of random calls, played by the player on a simulated machine in this OS process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use peermap_driver::{ByteSize, Call, Driver, DriverError, Intercepted, Interceptor, Value};
use peermap_sim::SimMachine;
use peermap_trace::{End, Expected, InOne, Processes, Reader, Session, StartError, Trace};

const SETS: [&str; 3] = ["random_1.jsonl", "random_2.jsonl", "random_peer.jsonl"];

/// The machine that they were recorded on.
const PROFILE: &str = "h200-x2";

/// From here on a copy or a fill is one of a whole mapping: in the sets they have up to 8 KiB, or the 2 MiB and more of a
/// mapping but for some bytes.
const WHOLE_MAPPING: ByteSize = ByteSize::mib(1);

/// What came of playing all sets once.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Tally {
    /// How many calls count.
    pub counted: u32,
    /// How many calls do not.
    pub apart: u32,
    /// How long the calls took that count.
    pub calls: Duration,
    /// How long their steps took: the same with what the player does to find arguments and to write answers.
    pub steps: Duration,
}

/// The random sets, read.
///
/// What is timed is each call of the [`Driver`] that the player makes, with one reading of the clock. What the player does
/// around it is no simulated call: it finds arguments by name in the JSON of a step, which is the second half of parsing,
/// and makes JSON of the answer. The whole step is timed as well, so that nothing hides there.
///
/// Every call counts but those that export or import a descriptor, those that copy a whole mapping, and those that run a
/// queued fill of one. So refused calls count, calls that only queue a fill, and small copies and fills with the first
/// touch of their memory. Of the calls that copy a whole mapping the refused ones are left out with the others, because the
/// player sets up as much host memory for them.
pub struct RandomSets {
    traces: Vec<Trace>,
}

impl RandomSets {
    /// Reads the sets of the repository.
    ///
    /// # Panics
    /// If one of them is not there or not as it was recorded.
    #[must_use]
    pub fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/traces");
        let open = |set| BufReader::new(File::open(folder.join(set)).expect("a recording"));
        let traces = SETS.into_iter().flat_map(|set| Reader::new(open(set)));
        Self { traces: traces.collect::<Result<_, _>>().expect("a recording that can be read") }
    }

    /// Plays each trace on a machine of its own.
    ///
    /// # Panics
    /// If the host cannot back a machine, or a step is not answered as it was recorded.
    #[must_use]
    pub fn play(&self) -> Tally {
        let meter = Meter::default();
        self.traces.iter().for_each(|trace| play(trace, &meter));
        *meter.tally()
    }
}

fn play(trace: &Trace, meter: &Meter) {
    let mut started = Started::of(trace, meter);
    let mut session = Session::new(InOne::new(&mut started));
    for step in &trace.steps {
        let counted = meter.tally().counted;
        let start = Instant::now();
        let got = session.step(step);
        let taken = start.elapsed();
        let mut tally = meter.tally();
        if tally.counted > counted {
            tally.steps += taken;
        }
        drop(tally);
        assert!(got.matches(&Expected::from(step)), "{}, line {}: got {got}", trace.header.name, step.line);
    }
}

/// The processes of a trace, which run before it is played.
struct Started(BTreeMap<u32, Box<dyn Driver>>);

impl Started {
    fn of(trace: &Trace, meter: &Meter) -> Self {
        let machine = SimMachine::named(PROFILE).expect("the host can back a machine");
        let start = |process| {
            let driver = machine.process().expect("the host can back a process");
            (process, Box::new(Intercepted::new(driver, Watch::new(meter.clone()))) as Box<dyn Driver>)
        };
        let numbers: BTreeSet<u32> = trace.steps.iter().map(|step| step.process).collect();
        Self(numbers.into_iter().map(start).collect())
    }
}

impl Processes for Started {
    fn start(&mut self, process: u32) -> Result<Box<dyn Driver>, StartError> {
        Ok(self.0.remove(&process).expect("a process starts once"))
    }

    fn end(&mut self, _process: u32, driver: Box<dyn Driver>, _how: End) {
        drop(driver);
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
            self.calls += taken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_counted_or_apart_and_none_twice() {
        let sets = RandomSets::read();
        let is_call = |step: &&peermap_trace::Step| step.call.driver_call().is_some();
        let calls = sets.traces.iter().flat_map(|trace| &trace.steps).filter(is_call).count();
        let Tally { counted, apart, .. } = sets.play();
        assert_eq!((counted + apart) as usize, calls);
    }
}
