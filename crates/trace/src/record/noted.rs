//! What a recording knows of a process: its values by the names that were made up for them.

use peermap_driver::{Call, Context, DevicePtr, Event, Function, MemHandle, MemPool, Module, OsHandle, Stream};
use serde_json::{Value as Json, json};

use super::argument::Given;
use super::step::Arguments;
use crate::player::{Value, Values};
use crate::reference::Reference;

/// How far above the start of a reservation or allocation an address may be to be written as lying in it.
///
/// # Units
/// Bytes.
const REACH: u64 = 1 << 40;

/// A process whose calls are recorded.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) values: Values,
    /// Free memory as the previous `cuMemGetInfo` had it.
    pub(super) free: Option<u64>,
    /// Modules of the kernels that every player has.
    pub(super) modules: Vec<Module>,
    /// Kernels of those modules by name.
    pub(super) functions: Vec<(Function, String)>,
    /// It ended, or would have crashed.
    pub(super) ended: bool,
}

impl Noted {
    /// An address by the nearest name at or below it, or as a number.
    pub(super) fn address(&self, address: DevicePtr) -> Json {
        let exact = self.values.name_of(|value| matches!(value, Value::Address(start) if *start == address));
        if let Some(name) = exact {
            return json!(format!("${name}"));
        }
        let below = self.values.name_address(address);
        let near = Reference::parse(&below).is_some_and(|reference| reference.offset < i128::from(REACH));
        if near { json!(below) } else { json!(format!("{:#x}", address.get())) }
    }

    pub(super) fn memory(&self, handle: MemHandle) -> Json {
        self.handle(handle.as_raw(), |value| matches!(value, Value::Memory(other) if *other == handle))
    }

    pub(super) fn pool(&self, pool: MemPool) -> Json {
        self.handle(pool.as_raw(), |value| matches!(value, Value::Pool(other) if *other == pool))
    }

    pub(super) fn context(&self, context: Option<Context>) -> Json {
        let Some(context) = context else { return Json::Null };
        self.handle(context.as_raw(), |value| matches!(value, Value::Context(other) if *other == context))
    }

    pub(super) fn event(&self, event: Event) -> Json {
        self.handle(event.as_raw(), |value| matches!(value, Value::Event(other) if *other == event))
    }

    /// `None`: the null stream, which a step does not name.
    pub(super) fn stream(&self, stream: Stream) -> Option<Json> {
        let is_it = |value: &Value| matches!(value, Value::Stream(other) if *other == stream);
        (stream != Stream::NULL).then(|| self.handle(stream.as_raw(), is_it))
    }

    fn handle(&self, raw: u64, is_it: impl Fn(&Value) -> bool) -> Json {
        self.values.name_of(is_it).map_or_else(|| json!(format!("{raw:#x}")), |name| json!(format!("${name}")))
    }

    /// The name of what one process hands to another, if this process has it.
    pub(super) fn shared(&self, given: &Given<'_>) -> Option<&str> {
        self.values.name_of(|value| is_shared(value, given))
    }

    /// The kernel of a function, if every player has it.
    pub(super) fn kernel(&self, function: Function) -> Option<&str> {
        self.functions.iter().rev().find(|(known, _)| *known == function).map(|(_, name)| name.as_str())
    }

    /// Lets the name die whose value a call gave back.
    pub(super) fn retire(&mut self, call: Call, given: Arguments<'_, '_>) {
        match (call, given) {
            (Call::cuMemRelease, [(_, Given::Memory(handle))]) => {
                self.retire_first(|value| matches!(value, Value::Memory(other) if other == handle));
            }
            (Call::cuCtxDestroy, [(_, Given::Context(Some(context)))]) => {
                self.retire_first(|value| matches!(value, Value::Context(other) if other == context));
            }
            (
                Call::cuMemAddressFree | Call::cuMemFree | Call::cuMemFreeAsync | Call::cuIpcCloseMemHandle,
                [(_, Given::Address(address)), ..],
            ) => self.retire_first(|value| matches!(value, Value::Address(start) if start == address)),
            (Call::cuMemPoolDestroy, [(_, Given::Pool(pool))]) => {
                self.retire_first(|value| matches!(value, Value::Pool(other) if other == pool));
            }
            _ => {}
        }
    }

    /// Retires the name that the step used.
    fn retire_first(&mut self, is_it: impl Fn(&Value) -> bool) {
        if let Some(name) = self.values.name_of(is_it).map(str::to_owned) {
            self.values.retire(&name);
        }
    }
}

fn is_shared(value: &Value, given: &Given<'_>) -> bool {
    match (value, given) {
        (Value::Closed(number), Given::Shared(handle @ OsHandle::Fd(_))) => handle.fd_number() == Some(*number),
        (Value::Fabric(known), Given::Shared(OsHandle::Fabric(handle))) => known == *handle,
        (Value::Win32(known), Given::Shared(OsHandle::Win32(handle))) => known == handle,
        (Value::Legacy(known), Given::Legacy(handle)) => known == *handle,
        (Value::EventHandle(known), Given::EventHandle(handle)) => known == *handle,
        (Value::PoolPointer(known), Given::PoolPointer(data)) => known == *data,
        _ => false,
    }
}

/// The value of what one process hands to another, for the process that gets it.
pub(super) fn shared_value(given: &Given<'_>) -> Option<Value> {
    match given {
        Given::Shared(handle @ OsHandle::Fd(_)) => handle.fd_number().map(Value::Closed),
        Given::Shared(OsHandle::Fabric(handle)) => Some(Value::Fabric(**handle)),
        Given::Legacy(handle) => Some(Value::Legacy(**handle)),
        Given::EventHandle(handle) => Some(Value::EventHandle(**handle)),
        Given::PoolPointer(data) => Some(Value::PoolPointer(**data)),
        _ => None,
    }
}
