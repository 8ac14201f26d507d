//! A driver whose answers are written down beforehand, and processes that have one each.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, Argument, ByteSize, Call, Context, CuResult, Device, DeviceAttribute,
    DevicePtr, Driver, DriverError, Event, Function, FunctionAttribute, GranularityOption, HandleType, HostAccess,
    HostPtr, IpcEventHandle, IpcMemHandle, JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MemInfo, MemPool,
    MemPoolAttribute, MemPoolProps, MemPoolPtrExportData, Module, MulticastObjectProp, OsHandle, PointerAttribute,
    Result, ShareableHandle, Stream, Uuid, Value, for_each_call,
};
use peermap_trace::{End, Processes, StartError};

type Answer = Box<dyn Any + Send>;

/// The answers that are left, by call, and the calls that were made.
#[derive(Default)]
pub struct Script {
    answers: HashMap<Call, VecDeque<Answer>>,
    /// Each call with its arguments as text.
    pub made: Vec<String>,
}

/// A driver that answers from its script, and `NotModelled` where the script has no answer.
#[derive(Clone, Default)]
pub struct Scripted(Arc<Mutex<Script>>);

impl Scripted {
    /// Adds an answer to a call; `T` is the output of the call.
    pub fn answer<T: Send + 'static>(self, call: Call, answer: Result<T>) -> Self {
        self.0
            .lock()
            .expect("no test panics with the lock")
            .answers
            .entry(call)
            .or_default()
            .push_back(Box::new(answer));
        self
    }

    /// The calls so far.
    pub fn made(&self) -> Vec<String> {
        self.0.lock().expect("no test panics with the lock").made.clone()
    }

    fn next<T: 'static>(&self, call: Call, arguments: &[Value]) -> Result<T> {
        let mut script = self.0.lock().expect("no test panics with the lock");
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        script.made.push(format!("{call}({})", arguments.join(", ")));
        match script.answers.get_mut(&call).and_then(VecDeque::pop_front) {
            Some(answer) => *answer.downcast::<Result<T>>().expect("the script answers with the call's own type"),
            None => Err(DriverError::NotModelled { what: format!("{call} without a script") }),
        }
    }
}

macro_rules! scripted {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl Driver for Scripted {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    self.next(Call::$cuda, &[$(Argument::value(&$arg)),*])
                }
            )*
        }
    };
}

for_each_call!(scripted);

impl HostAccess for Scripted {}

/// Gives each process of a trace its own scripted driver, and notes how each one ended.
#[derive(Default)]
pub struct ScriptedProcesses {
    drivers: BTreeMap<u32, Scripted>,
    /// The processes that started, in that order.
    pub started: Vec<u32>,
    /// The processes that ended, in that order.
    pub ended: Vec<(u32, End)>,
}

impl ScriptedProcesses {
    /// Process 0 alone.
    pub fn one(driver: Scripted) -> Self {
        Self::with([driver])
    }

    /// Processes 0, 1 and so on. Any other process cannot be started.
    pub fn with<const N: usize>(drivers: [Scripted; N]) -> Self {
        Self { drivers: (0..).zip(drivers).collect(), ..Self::default() }
    }
}

impl Processes for ScriptedProcesses {
    fn start(&mut self, process: u32) -> std::result::Result<Box<dyn Driver>, StartError> {
        self.started.push(process);
        match self.drivers.get(&process) {
            Some(driver) => Ok(Box::new(driver.clone())),
            None => Err("there is no script for it".into()),
        }
    }

    fn end(&mut self, process: u32, driver: Box<dyn Driver>, how: End) {
        drop(driver);
        self.ended.push((process, how));
    }
}
