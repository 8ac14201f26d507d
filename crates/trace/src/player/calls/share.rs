//! Export, import and legacy handles.

use peermap_driver::ShareableHandle;
use serde_json::json;

use super::os::refusal;
use crate::player::arguments::Arguments;
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Value;

pub(super) fn export(process: &mut Process, given: Arguments<'_>) -> Answered {
    let handle = given.memory("handle", &process.values)?;
    let kind = given.handle_types("handle_type")?;
    let exported = process.driver.mem_export_to_shareable_handle(handle, kind, given.number_or("flags", 0)?)?;
    Answer::value(shareable(exported))
}

/// What an export gave.
pub(super) fn shareable(exported: ShareableHandle) -> Value {
    match exported {
        ShareableHandle::PosixFd(fd) => Value::Descriptor(fd),
        ShareableHandle::Fabric(handle) => Value::Fabric(handle),
        ShareableHandle::Win32(handle) => Value::Win32(handle),
    }
}

pub(super) fn import(process: &mut Process, given: Arguments<'_>) -> Answered {
    let from = given.os_handle("from", &process.values)?;
    let handle = process.driver.mem_import_from_shareable_handle(from, given.handle_types("handle_type")?)?;
    Answer::value(Value::Memory(handle))
}

pub(super) fn ipc_get_mem_handle(process: &mut Process, given: Arguments<'_>) -> Answered {
    let handle = process.driver.ipc_get_mem_handle(given.address("ptr", &process.values)?)?;
    Answer::value(Value::Legacy(handle))
}

/// The flag of `cuIpcOpenMemHandle` where a recording names none.
const LAZY_PEER_ACCESS: u32 = 1;

pub(super) fn ipc_open_mem_handle(process: &mut Process, given: Arguments<'_>) -> Answered {
    let Value::Legacy(handle) = handle_of(process, given)? else {
        return Err(refusal(given, "handle", "a legacy handle by name").into());
    };
    let address = process.driver.ipc_open_mem_handle(handle, given.number_or("flags", LAZY_PEER_ACCESS)?)?;
    let names = process.values.same_address(address);
    Ok(Answer::out([("same_as", json!(names))]).with(Value::Address(address)))
}

pub(super) fn ipc_close_mem_handle(process: &mut Process, given: Arguments<'_>) -> Answered {
    let address = given.address("ptr", &process.values)?;
    process.driver.ipc_close_mem_handle(address)?;
    process.values.retire_address(given.name_of("ptr"), address);
    Answer::nothing()
}

pub(super) fn ipc_get_event_handle(process: &mut Process, given: Arguments<'_>) -> Answered {
    let handle = process.driver.ipc_get_event_handle(given.event("event", &process.values)?)?;
    Answer::value(Value::EventHandle(handle))
}

pub(super) fn ipc_open_event_handle(process: &mut Process, given: Arguments<'_>) -> Answered {
    let Value::EventHandle(handle) = handle_of(process, given)? else {
        return Err(refusal(given, "handle", "an event handle by name").into());
    };
    Answer::value(Value::Event(process.driver.ipc_open_event_handle(handle)?))
}

/// The handle that a step names.
fn handle_of<'p>(process: &'p Process, given: Arguments<'_>) -> Result<&'p Value, PlayError> {
    value_of(process, given, "handle")
}

/// The value that a step names.
pub(super) fn value_of<'p>(
    process: &'p Process,
    given: Arguments<'_>,
    key: &'static str,
) -> Result<&'p Value, PlayError> {
    let name = given.name_of(key).ok_or_else(|| refusal(given, key, "a handle by name"))?;
    process.values.get(name).ok_or_else(|| PlayError::NoValue { name: name.to_owned() })
}
