//! Export, import and legacy handles.

use peermap_driver::ShareableHandle;

use crate::player::arguments::Arguments;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Value;

pub(super) fn export(process: &mut Process, given: Arguments<'_>) -> Answered {
    let handle = given.memory("handle", &process.values)?;
    let kind = given.handle_types("handle_type")?;
    let exported = process.driver.mem_export_to_shareable_handle(handle, kind, given.number_or("flags", 0)?)?;
    Answer::value(match exported {
        ShareableHandle::PosixFd(fd) => Value::Descriptor(Some(fd)),
        ShareableHandle::Fabric(handle) => Value::Fabric(handle),
    })
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
