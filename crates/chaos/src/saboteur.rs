//! Whoever makes faults happen in a process: it counts the driver calls and the messages of the process.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use peermap_driver::{Call, CuResult, DriverError, Interceptor, Result, Value};
use peermap_ipc::{Fate, Tap};

use crate::codes::{codes, takes_addresses, takes_memory};
use crate::fault::{Fault, What};

/// What a fault does to a process, wherever that lives.
pub trait Power: Send + Sync {
    /// Something happened, or is about to.
    fn event(&self, what: fmt::Arguments<'_>);

    /// Kills the process.
    fn kill(&self) -> !;

    /// Stops it for a time.
    fn stop(&self, time: Duration);

    /// Lets it open so many files more.
    fn allow_files(&self, more: u32);

    /// Whether it was killed and only unwinds.
    fn is_dead(&self) -> bool {
        false
    }
}

/// Makes the faults of a process happen.
pub struct Saboteur<P> {
    power: P,
    faults: Vec<Fault>,
    events: AtomicU32,
    calls: Mutex<Vec<Call>>,
    messages: AtomicU32,
    no_addresses: AtomicBool,
    no_memory: AtomicBool,
    /// The faults that happened.
    happened: Mutex<Vec<Fault>>,
}

/// What a process has done, and what happened to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many events it had.
    pub events: u32,
    /// The driver calls that it made.
    pub calls: Vec<Call>,
    /// How many messages it sent.
    pub messages: u32,
    /// The faults that happened.
    pub happened: Vec<Fault>,
}

impl<P: Power> Saboteur<P> {
    /// One that makes these faults happen.
    pub fn new(power: P, faults: Vec<Fault>) -> Self {
        Self {
            power,
            faults,
            events: AtomicU32::new(0),
            calls: Mutex::default(),
            messages: AtomicU32::new(0),
            no_addresses: AtomicBool::new(false),
            no_memory: AtomicBool::new(false),
            happened: Mutex::default(),
        }
    }

    /// What the process has done so far.
    pub fn tally(&self) -> Tally {
        Tally {
            events: self.events.load(Relaxed),
            calls: lock(&self.calls).clone(),
            messages: self.messages.load(Relaxed),
            happened: lock(&self.happened).clone(),
        }
    }

    /// Counts a call; gives its number.
    fn count(&self, call: Call) -> u32 {
        let mut calls = lock(&self.calls);
        calls.push(call);
        calls.len() as u32 - 1
    }

    /// A fault happens.
    fn note(&self, fault: Fault) {
        self.power.event(format_args!("fault {fault}"));
        lock(&self.happened).push(fault);
    }

    /// An event: whatever happens at it does.
    fn event(&self, what: fmt::Arguments<'_>) {
        let number = self.events.fetch_add(1, Relaxed);
        self.power.event(what);
        for fault in &self.faults {
            match fault.what {
                What::Kill { event } if event == number => {
                    self.note(*fault);
                    self.power.kill();
                }
                What::Stop { event, time } if event == number => {
                    self.note(*fault);
                    self.power.stop(time);
                }
                What::NoAddresses { event } if event == number => self.no_addresses.store(true, Relaxed),
                What::NoMemory { event } if event == number => self.no_memory.store(true, Relaxed),
                What::Files { event, more } if event == number => {
                    self.note(*fault);
                    self.power.allow_files(more);
                }
                _ => {}
            }
        }
    }

    /// The code that a call is refused with, if it is, and why.
    fn refusal(&self, call: Call, number: u32) -> Option<(Fault, CuResult)> {
        self.faults.iter().find_map(|fault| match fault.what {
            What::Refuse { call: which, pick } if which == number => {
                let codes = codes(call);
                Some((*fault, codes[pick as usize % codes.len()]))
            }
            What::NoAddresses { .. } if takes_addresses(call) && self.no_addresses.load(Relaxed) => {
                Some((*fault, CuResult::OUT_OF_MEMORY))
            }
            What::NoMemory { .. } if takes_memory(call) && self.no_memory.load(Relaxed) => {
                Some((*fault, CuResult::OUT_OF_MEMORY))
            }
            _ => None,
        })
    }
}

/// A thread that was killed while it held a lock has not left anything half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Power> Interceptor for Saboteur<P> {
    fn before(&self, call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        if self.power.is_dead() {
            return Err(DriverError::refused(CuResult::DEINITIALIZED));
        }
        self.event(format_args!("calls {call}"));
        match self.refusal(call, self.count(call)) {
            Some((fault, code)) => {
                self.note(fault);
                self.after(call, Some(&DriverError::refused(code)));
                Err(DriverError::refused(code))
            }
            None => Ok(()),
        }
    }

    fn after(&self, call: Call, error: Option<&DriverError>) {
        if self.power.is_dead() {
            return;
        }
        match error.map(|error| (error.result(), error)) {
            None => self.event(format_args!("returns from {call}")),
            Some((Some(code), _)) => self.event(format_args!("returns from {call}: {code}")),
            Some((None, error)) => self.event(format_args!("returns from {call}: {error}")),
        }
    }
}

impl<P: Power> fmt::Debug for Saboteur<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Saboteur").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl<P: Power> Tap for Saboteur<P> {
    fn next(&self) -> Fate {
        let number = self.messages.fetch_add(1, Relaxed);
        self.event(format_args!("sends message {number}"));
        let fate = self.faults.iter().find_map(|fault| {
            let fate = match fault.what {
                What::Lose { message } if message == number => Fate::Lost,
                What::Double { message } if message == number => Fate::Doubled,
                What::Cut { message } if message == number => Fate::Cut,
                What::Delay { message, time } if message == number => Fate::Late(time),
                _ => return None,
            };
            Some((*fault, fate))
        });
        fate.map_or(Fate::Arrives, |(fault, fate)| {
            self.note(fault);
            fate
        })
    }
}
