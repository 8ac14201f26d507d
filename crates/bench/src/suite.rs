//! What a suite is, and which there are.

use peermap_report::bench::{Peak, Unit};

use crate::error::BenchError;
use crate::rig::Rig;
use crate::{bandwidth, barrier, control, scenario, transport};

/// Benchmarks of one concern.
pub trait Suite: Sync {
    /// Its name on the command line and in results.
    fn name(&self) -> &'static str;

    /// The groups that it measures on this machine.
    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>>;
}

/// Every suite, in the order in which they run.
pub static SUITES: &[&dyn Suite] =
    &[&control::Control, &bandwidth::Bandwidth, &transport::Transport, &barrier::BarrierSuite, &scenario::Scenario];

/// One thing that a group measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name: that of the call, where it is one.
    pub name: &'static str,
    /// What its samples are numbers of.
    pub unit: Unit,
    /// What its median must reach.
    pub floor: Option<FloorOf>,
    /// What the link that it uses can do at most.
    pub peak: Option<Peak>,
}

/// How the bytes that a rate counts cross a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    /// Each once, all the same way.
    Once,
    /// Each twice: it is read from what it is written to.
    Twice,
    /// Each once, half of them one way and half of them the other.
    BothWays,
}

/// What a median must reach: a part of the median of another output of the same group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloorOf {
    /// The other output.
    pub output: &'static str,
    /// The part of it.
    pub part: f64,
}

impl Output {
    /// A time.
    #[must_use]
    pub const fn time(name: &'static str) -> Self {
        Self { name, unit: Unit::Nanoseconds, floor: None, peak: None }
    }

    /// A rate.
    #[must_use]
    pub const fn rate(name: &'static str) -> Self {
        Self { name, unit: Unit::GigabytesPerSecond, floor: None, peak: None }
    }

    /// The same as a part of what a link can do.
    #[must_use]
    pub fn of_peak(mut self, peak: Option<&Peak>, crossing: Crossing) -> Self {
        self.peak = peak.map(|Peak { value, source }| match crossing {
            Crossing::Once => Peak { value: *value, source: source.clone() },
            Crossing::Twice => Peak { value: value / 2.0, source: format!("{source}, crossed twice by each byte") },
            Crossing::BothWays => Peak { value: value * 2.0, source: format!("{source}, both ways") },
        });
        self
    }

    /// The same with a floor.
    #[must_use]
    pub fn at_least(mut self, part: f64, output: &'static str) -> Self {
        self.floor = Some(FloorOf { output, part });
        self
    }
}

/// Work that is done over and over.
pub trait Group {
    /// Does the work once; gives a sample for each output, in their order.
    ///
    /// # Errors
    /// [`BenchError`]; the group ends with it, and what it had is kept.
    fn sample(&mut self) -> Result<Vec<f64>, BenchError>;
}

/// What makes a group, once it is its turn.
pub type Make<'r> = Box<dyn FnOnce() -> Result<Box<dyn Group + 'r>, BenchError> + 'r>;

/// A group that is to be measured.
pub struct Planned<'r> {
    /// What it measures.
    pub outputs: Vec<Output>,
    /// For what: names and values, the same in every run.
    pub parameters: Vec<(&'static str, String)>,
    /// Sets it up.
    pub make: Make<'r>,
}
