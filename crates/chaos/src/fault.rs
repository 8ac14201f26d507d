//! What can go wrong, and how a seed or a command line says so.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A process of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Who {
    /// The one that starts the others.
    Parent,
    /// The worker of this number.
    Worker(u32),
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fault {
    /// The process that it happens to.
    pub who: Who,
    /// What happens.
    pub what: What,
}

/// What goes wrong, and when: at which of the process's own events. Each driver call is two, before and after it, and each
/// message that it sends is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum What {
    /// The driver refuses a call with one of the codes that it can give: the `pick`-th, counted round.
    Refuse {
        /// Which call, counted from 0.
        call: u32,
        /// Which code.
        pick: u32,
    },
    /// The process is killed.
    Kill {
        /// At which event, counted from 0.
        event: u32,
    },
    /// The process is stopped for a time.
    Stop {
        /// At which event.
        event: u32,
        /// For how long.
        time: Duration,
    },
    /// A message never arrives.
    Lose {
        /// Which, counted from 0.
        message: u32,
    },
    /// A message arrives twice.
    Double {
        /// Which.
        message: u32,
    },
    /// Half of a message arrives.
    Cut {
        /// Which.
        message: u32,
    },
    /// A message arrives later.
    Delay {
        /// Which.
        message: u32,
        /// By how much.
        time: Duration,
    },
    /// From an event on there are no more addresses: each reservation fails.
    NoAddresses {
        /// Which event.
        event: u32,
    },
    /// From an event on there is no more memory: whatever takes some fails.
    NoMemory {
        /// Which event.
        event: u32,
    },
    /// From an event on the process may open only so many files more.
    Files {
        /// Which event.
        event: u32,
        /// How many more.
        more: u32,
    },
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parent => f.write_str("parent"),
            Self::Worker(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for Fault {
    /// As [`Fault::from_str`] reads it: `kill:2:17`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.who;
        match self.what {
            What::Refuse { call, pick } => write!(f, "refuse:{who}:{call}:{pick}"),
            What::Kill { event } => write!(f, "kill:{who}:{event}"),
            What::Stop { event, time } => write!(f, "stop:{who}:{event}:{}", time.as_millis()),
            What::Lose { message } => write!(f, "lose:{who}:{message}"),
            What::Double { message } => write!(f, "double:{who}:{message}"),
            What::Cut { message } => write!(f, "cut:{who}:{message}"),
            What::Delay { message, time } => write!(f, "delay:{who}:{message}:{}", time.as_millis()),
            What::NoAddresses { event } => write!(f, "no-addresses:{who}:{event}"),
            What::NoMemory { event } => write!(f, "no-memory:{who}:{event}"),
            What::Files { event, more } => write!(f, "files:{who}:{event}:{more}"),
        }
    }
}

/// A text that is no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no fault such as `kill:2:17` or `refuse:parent:4:0`; see --help")]
pub struct ParseFaultError(String);

impl FromStr for Fault {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        parse(text).ok_or_else(|| ParseFaultError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Fault> {
    let parts: Vec<&str> = text.split(':').collect();
    let (kind, who, numbers) = match &*parts {
        [kind, who, numbers @ ..] => (*kind, *who, numbers),
        _ => return None,
    };
    let who = if who == "parent" { Who::Parent } else { Who::Worker(who.parse().ok()?) };
    let numbers: Vec<u32> = numbers.iter().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let millis = |number: u32| Duration::from_millis(number.into());
    let what = match (kind, &*numbers) {
        ("refuse", &[call, pick]) => What::Refuse { call, pick },
        ("kill", &[event]) => What::Kill { event },
        ("stop", &[event, time]) => What::Stop { event, time: millis(time) },
        ("lose", &[message]) => What::Lose { message },
        ("double", &[message]) => What::Double { message },
        ("cut", &[message]) => What::Cut { message },
        ("delay", &[message, time]) => What::Delay { message, time: millis(time) },
        ("no-addresses", &[event]) => What::NoAddresses { event },
        ("no-memory", &[event]) => What::NoMemory { event },
        ("files", &[event, more]) => What::Files { event, more },
        _ => return None,
    };
    Some(Fault { who, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_reads_as_it_is_written() {
        let texts = [
            "refuse:parent:4:0",
            "kill:2:17",
            "stop:0:3:250",
            "lose:1:0",
            "double:parent:2",
            "cut:0:1",
            "delay:1:1:40",
            "no-addresses:1:9",
            "no-memory:parent:1",
            "files:0:4:2",
        ];
        for text in texts {
            assert_eq!(text.parse::<Fault>().map(|fault| fault.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_fault_is_named() {
        for text in ["", "kill", "kill:2", "kill:x:1", "kill:1:-1", "burn:1:2", "kill:1:2:3"] {
            let error = text.parse::<Fault>().expect_err(text);
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }
}
