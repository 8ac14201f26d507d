//! What can be asked of a scenario that hands buffers round.

use peermap_driver::ByteSize;
use serde::{Deserialize, Serialize};

use super::Task;
use crate::error::UsageError;
use crate::names::names;
use crate::options::Options;
use crate::task;

/// What keeps a step's work behind that of the step before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Events that the processes share, as in NVIDIA's samples. The host waits for no work.
    Events,
    /// The host: each worker waits for its work in every step.
    Host,
    /// Nothing, which is a mistake: who fills a buffer last is a matter of luck.
    None,
}

names!(Order { Events = "events", Host = "host", None = "none", });

/// The most steps of a run: each is counted.
const MOST_STEPS: u32 = 1_000_000;

/// What is asked of a scenario that hands buffers round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relay {
    /// What is asked of every scenario.
    pub options: Options,
    /// What keeps the steps apart.
    pub order: Order,
    /// How many steps there are; `None`: as many as workers.
    pub steps: Option<u32>,
}

impl Default for Relay {
    fn default() -> Self {
        let options = Options { size: ByteSize::mib(64), ..Options::default() };
        Self { options, order: Order::Events, steps: None }
    }
}

impl Relay {
    /// Refuses numbers of steps that cannot be.
    pub(crate) fn check_steps(&self) -> Result<(), UsageError> {
        match self.steps {
            Some(0) => Err(UsageError::ZeroSteps),
            Some(steps) if steps > MOST_STEPS => Err(UsageError::TooManySteps { steps, max: MOST_STEPS }),
            _ => Ok(()),
        }
    }

    /// How many steps so many workers take.
    pub(crate) fn steps(&self, workers: u32) -> u32 {
        self.steps.unwrap_or(workers)
    }

    /// What each worker is to do.
    pub(crate) fn task(&self, work: task::Task, workers: u32) -> Task {
        Task { work, order: self.order, steps: self.steps(workers) }
    }

    /// What is asked besides what every scenario can be asked, for a report.
    pub(crate) fn shown(&self) -> Vec<(&'static str, String)> {
        let steps = self.steps.map_or_else(|| "one per worker".to_owned(), |steps| steps.to_string());
        vec![("order", self.order.to_string()), ("steps", steps)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_samples() {
        let scenario = Relay::default();
        assert_eq!((scenario.options.size, scenario.order, scenario.steps), (ByteSize::mib(64), Order::Events, None));
    }

    #[test]
    fn steps_that_cannot_be_are_refused() {
        let check = |steps| Relay { steps, ..Relay::default() }.check_steps();
        assert!(matches!(check(Some(0)), Err(UsageError::ZeroSteps)));
        assert!(matches!(check(Some(1_000_001)), Err(UsageError::TooManySteps { steps: 1_000_001, max: 1_000_000 })));
        assert!(check(Some(1_000_000)).is_ok() && check(None).is_ok());
    }

    #[test]
    fn orders_have_names() {
        assert!(Order::NAMES.iter().all(|name| name.parse::<Order>().unwrap().to_string() == *name));
        let unknown = "graph".parse::<Order>().unwrap_err();
        assert_eq!(unknown.to_string(), "\"graph\" is unknown; use events or host or none");
    }
}
