//! What can be made to go wrong in a worker.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::{Signal, raise};
use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Call, CuResult, DevicePtr, Driver, DriverError, HandleType, Interceptor,
    Result, Value,
};
use peermap_sim::SimProcess;

use crate::journal::Journal;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The driver cannot be opened.
    NoDriver,
    /// The process gets `SIGKILL` at this call.
    Kill(Call),
    /// The process stops for ever at this call.
    Hang(Call),
    /// This call is refused.
    Refuse(Call),
    /// The call of this number, counted from 1 over all calls, is refused with a code.
    RefuseNth(usize, CuResult),
    /// The process gets `SIGKILL` before the call of this number.
    KillBefore(usize),
    /// The process gets `SIGKILL` after the call of this number.
    KillAfter(usize),
    /// This call is not modelled.
    NotModelled(Call),
    /// Two bytes of buffer 1 change after all have been filled.
    Corrupt,
    /// Every device may read and write what was mapped first, whatever it was given, from the first copy to the host on.
    Open,
    /// Memory is made before the first mapping and never given back.
    Leak,
    /// What was mapped first is memory of device 1 when the driver is asked about it.
    Replace,
}

/// Where [`Fault::Corrupt`] changes bytes, and to what.
pub const CORRUPT_OFFSET: u64 = 4097;
pub const CORRUPT_BYTE: u8 = 0xEE;

/// What [`Fault::Leak`] makes.
pub const LEAKED: ByteSize = ByteSize::mib(6);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::NoDriver => f.write_str("no-driver"),
            Self::Kill(call) => write!(f, "kill:{call}"),
            Self::Hang(call) => write!(f, "hang:{call}"),
            Self::Refuse(call) => write!(f, "refuse:{call}"),
            Self::RefuseNth(number, code) => write!(f, "refuse-nth:{number}:{code}"),
            Self::KillBefore(number) => write!(f, "kill-before:{number}"),
            Self::KillAfter(number) => write!(f, "kill-after:{number}"),
            Self::NotModelled(call) => write!(f, "not-modelled:{call}"),
            Self::Corrupt => f.write_str("corrupt"),
            Self::Open => f.write_str("open"),
            Self::Leak => f.write_str("leak"),
            Self::Replace => f.write_str("replace"),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let mut part = || parts.next().ok_or_else(|| format!("{text:?} is no fault: it is too short"));
        match name {
            "none" => Ok(Self::None),
            "no-driver" => Ok(Self::NoDriver),
            "kill" => call(part()?).map(Self::Kill),
            "hang" => call(part()?).map(Self::Hang),
            "refuse" => call(part()?).map(Self::Refuse),
            "refuse-nth" => Ok(Self::RefuseNth(number(part()?)?, code(part()?)?)),
            "kill-before" => number(part()?).map(Self::KillBefore),
            "kill-after" => number(part()?).map(Self::KillAfter),
            "not-modelled" => call(part()?).map(Self::NotModelled),
            "corrupt" => Ok(Self::Corrupt),
            "open" => Ok(Self::Open),
            "leak" => Ok(Self::Leak),
            "replace" => Ok(Self::Replace),
            other => Err(format!("{other:?} is no fault")),
        }
    }
}

fn call(name: &str) -> std::result::Result<Call, String> {
    Call::from_name(name).ok_or_else(|| format!("{name:?} is no call"))
}

fn code(name: &str) -> std::result::Result<CuResult, String> {
    CuResult::from_name(name).ok_or_else(|| format!("{name:?} is no code"))
}

fn number(text: &str) -> std::result::Result<usize, String> {
    text.parse().map_err(|error| format!("{text:?}: {error}"))
}

/// Ends this process at once.
fn die() -> Result<()> {
    raise(Signal::SIGKILL).map_err(|errno| panic!("{errno}"))
}

/// Makes it go wrong.
pub struct Saboteur {
    fault: Fault,
    process: SimProcess,
    journal: Option<Journal>,
    /// How many calls there were.
    calls: AtomicUsize,
    /// Where the buffers are mapped, by number, and whether one was changed already.
    state: Mutex<(Vec<u64>, bool)>,
}

impl Saboteur {
    pub fn new(fault: Fault, process: SimProcess, journal: Option<Journal>) -> Self {
        Self { fault, process, journal, calls: AtomicUsize::new(0), state: Mutex::default() }
    }

    /// Changes two bytes of buffer 1 at the first memset or copy to the host behind its mapping: with one of these a
    /// verification begins.
    fn corrupt(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let mut state = self.state.lock().expect("nobody panics with the lock");
        match (call, arguments().first()) {
            (Call::cuMemMap, Some((_, Value::Address(ptr)))) => state.0.push(*ptr),
            (Call::cuMemsetD8Async | Call::cuMemcpyDtoH, _) if !state.1 && state.0.len() > 1 => {
                state.1 = true;
                let ptr = DevicePtr::new(state.0[1] + CORRUPT_OFFSET);
                self.process.memset_d8(ptr, CORRUPT_BYTE, ByteSize::new(2))?;
                self.process.ctx_synchronize()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes memory that nobody gives back.
    fn leak(&self, call: Call) -> Result<()> {
        let mut state = self.state.lock().expect("nobody panics with the lock");
        if call == Call::cuMemMap && !std::mem::replace(&mut state.1, true) {
            self.process.mem_create(LEAKED, &AllocationProp::pinned_on(0, HandleType::NONE), 0)?;
        }
        Ok(())
    }

    /// Maps other memory where something was mapped first.
    fn replace(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let mut state = self.state.lock().expect("nobody panics with the lock");
        match (call, arguments().first()) {
            (Call::cuMemMap, Some((_, Value::Address(ptr)))) => state.0.push(*ptr),
            (Call::cuMemRetainAllocationHandle, _) if !state.1 => {
                state.1 = true;
                let (ptr, size) = (DevicePtr::new(state.0[0]), ByteSize::mib(2));
                let handle = self.process.mem_create(size, &AllocationProp::pinned_on(1, HandleType::NONE), 0)?;
                self.process.mem_unmap(ptr, size)?;
                self.process.mem_map(ptr, size, ByteSize::ZERO, handle, 0)?;
                self.process.mem_release(handle)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Gives the first two devices every right on the first mapping.
    fn open(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let mut state = self.state.lock().expect("nobody panics with the lock");
        match (call, arguments().first()) {
            (Call::cuMemMap, Some((_, Value::Address(ptr)))) => state.0.push(*ptr),
            (Call::cuMemcpyDtoH, _) => {
                let (ptr, size) = (DevicePtr::new(state.0[0]), ByteSize::mib(2));
                self.process.mem_set_access(ptr, size, &[0, 1].map(AccessDesc::read_write))?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Interceptor for Saboteur {
    fn before(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        self.journal.iter().for_each(|journal| journal.note(call));
        match self.fault {
            Fault::Kill(at) if at == call => die(),
            Fault::KillBefore(at) if at == number => die(),
            Fault::Hang(at) if at == call => loop {
                std::thread::park();
            },
            Fault::Refuse(at) if at == call => Err(DriverError::refused(CuResult::INVALID_VALUE)),
            Fault::RefuseNth(at, code) if at == number => Err(DriverError::refused(code)),
            Fault::NotModelled(at) if at == call => Err(DriverError::NotModelled { what: call.to_string() }),
            Fault::Corrupt => self.corrupt(call, arguments),
            Fault::Open => self.open(call, arguments),
            Fault::Leak => self.leak(call),
            Fault::Replace => self.replace(call, arguments),
            _ => Ok(()),
        }
    }

    fn after(&self, _call: Call, _error: Option<&DriverError>) {
        let number = self.calls.load(Ordering::Relaxed);
        if self.fault == Fault::KillAfter(number) {
            die().expect("nobody survives this");
        }
    }
}
