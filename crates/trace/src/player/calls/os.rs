//! Steps outside the driver that concern one process: its descriptors, and what it sends.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde_json::{Map, Value as Json};

use crate::call::OsStep;
use crate::player::arguments::{Arguments, wrong};
use crate::player::error::{Failure, PlayError};
use crate::player::parcel::Parcel;
use crate::player::process::{Action, Numbers, Process};
use crate::player::values::Value;

/// A descriptor number that is not open: no limit allows one so high.
const NEVER_OPEN: RawFd = RawFd::MAX;

/// Opens or closes a descriptor. Neither has an `out`.
pub(in crate::player) fn os_step(
    process: &mut Process,
    os_step: OsStep,
    action: Action<'_>,
) -> Result<Option<Map<String, Json>>, Failure> {
    let given = Arguments::new(action.arguments);
    match (os_step, action.name) {
        (OsStep::OpenFd, Some(name)) => process.values.define(name, Value::Descriptor(open(given)?)),
        (OsStep::OpenFd, None) => return Err(PlayError::MissingArgument { key: "as" }.into()),
        (OsStep::CloseFd, None) => close(process, given)?,
        (OsStep::CloseFd, Some(name)) => {
            return Err(PlayError::NothingToName { name: name.to_owned(), call: action.call }.into());
        }
        // The steps that concern more than one process never get here: whoever has all processes does them.
        (OsStep::Send | OsStep::Exit | OsStep::Kill, _) => {
            return Err(PlayError::NotPlayable { call: action.call }.into());
        }
    }
    Ok(None)
}

/// What the receiver of a `send` gets: a duplicate of a descriptor, or the same bytes.
pub(in crate::player) fn copy_of(process: &Process, given: Arguments<'_>) -> Result<Parcel, Failure> {
    match named(given, "value", |name| process.values.get(name))? {
        Value::Descriptor(fd) => Ok(Parcel::Descriptor(fd.try_clone().map_err(errno)?)),
        Value::Closed(_) => Err(Errno::EBADF.into()),
        Value::Fabric(handle) => Ok(Parcel::Fabric(*handle)),
        Value::Legacy(handle) => Ok(Parcel::Legacy(*handle)),
        Value::EventHandle(handle) => Ok(Parcel::EventHandle(*handle)),
        Value::PoolPointer(data) => Ok(Parcel::PoolPointer(*data)),
        _ => Err(refusal(given, "value", "a descriptor or the bytes of a handle").into()),
    }
}

fn close(process: &mut Process, given: Arguments<'_>) -> Result<(), Failure> {
    let numbers = process.numbers;
    let value = named(given, "fd", |name| process.values.get_mut(name))?;
    let number = match value {
        Value::Descriptor(fd) => fd.as_raw_fd(),
        Value::Closed(_) => return Err(Errno::EBADF.into()),
        _ => return Err(refusal(given, "fd", "a descriptor by name").into()),
    };
    *value = Value::Closed(if numbers == Numbers::Own { number } else { NEVER_OPEN });
    Ok(())
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
