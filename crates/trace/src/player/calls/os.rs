//! Steps outside the driver: descriptors, messages between processes, their end.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde_json::{Map, Value as Json};

use crate::call::OsStep;
use crate::format::Step;
use crate::player::arguments::{Arguments, wrong};
use crate::player::error::{Failure, PlayError};
use crate::player::process::Process;
use crate::player::processes::End;
use crate::player::session::Session;
use crate::player::values::Value;

/// Does a step outside the driver and names its value. None of them has an `out`.
pub(in crate::player) fn os_step(
    session: &mut Session<'_>,
    os_step: OsStep,
    step: &Step,
) -> Result<Option<Map<String, Json>>, Failure> {
    let given = Arguments::new(&step.arguments);
    let process = session.process(step.process)?;
    match (os_step, &step.name) {
        (OsStep::Send, None) => return Err(PlayError::MissingArgument { key: "as" }.into()),
        (OsStep::Send, Some(name)) => {
            let copy = copy_of(process, given)?;
            session.process(given.number("to")?)?.values.define(name, copy);
        }
        (OsStep::OpenFd, name) => {
            let value = Value::Descriptor(Some(open(given)?));
            process.values.define(name.as_deref().ok_or(PlayError::MissingArgument { key: "as" })?, value);
        }
        (_, Some(name)) => return Err(PlayError::NothingToName { name: name.clone(), call: step.call }.into()),
        (OsStep::CloseFd, None) => close(process, given)?,
        (OsStep::Exit, None) => session.end(step.process, End::Exit),
        (OsStep::Kill, None) => session.end(step.process, End::Kill),
    }
    Ok(None)
}

/// What the receiver of a `send` gets: a duplicate of a descriptor, or the same bytes.
fn copy_of(process: &Process, given: Arguments<'_>) -> Result<Value, Failure> {
    match named(given, "value", |name| process.values.get(name))? {
        Value::Descriptor(Some(fd)) => Ok(Value::Descriptor(Some(fd.try_clone().map_err(errno)?))),
        Value::Descriptor(None) => Err(Errno::EBADF.into()),
        Value::Fabric(handle) => Ok(Value::Fabric(*handle)),
        Value::Legacy(handle) => Ok(Value::Legacy(*handle)),
        Value::EventHandle(handle) => Ok(Value::EventHandle(*handle)),
        _ => Err(refusal(given, "value", "a descriptor or the bytes of a handle").into()),
    }
}

fn close(process: &mut Process, given: Arguments<'_>) -> Result<(), Failure> {
    match named(given, "fd", |name| process.values.get_mut(name))? {
        Value::Descriptor(fd) => fd.take().map(drop).ok_or_else(|| Errno::EBADF.into()),
        _ => Err(refusal(given, "fd", "a descriptor by name").into()),
    }
}

fn open(given: Arguments<'_>) -> Result<OwnedFd, Failure> {
    match given.text("kind")? {
        "memfd" => Ok(memfd_create("peermap-trace", MFdFlags::MFD_CLOEXEC)?),
        "null" => Ok(File::open("/dev/null").map_err(errno)?.into()),
        "socket" => Ok(UnixStream::pair().map_err(errno)?.0.into()),
        _ => Err(refusal(given, "kind", "memfd, null or socket").into()),
    }
}

/// The value that an argument names. A number is no value here: it may be a descriptor of somebody else.
fn named<V>(given: Arguments<'_>, key: &'static str, get: impl FnOnce(&str) -> Option<V>) -> Result<V, PlayError> {
    let name = given.name_of(key).ok_or_else(|| refusal(given, key, "a descriptor or handle by name"))?;
    get(name).ok_or_else(|| PlayError::NoValue { name: name.to_owned() })
}

pub(super) fn refusal(given: Arguments<'_>, key: &'static str, expected: &'static str) -> PlayError {
    given.get(key).map_or(PlayError::MissingArgument { key }, |json| wrong(key, json, expected))
}

fn errno(error: io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw)
}
