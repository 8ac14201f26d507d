//! From the arguments of a step to those of a call.

use std::cell::Cell;
use std::os::fd::{AsFd, RawFd};

use peermap_driver::{ByteSize, Context, Device, DevicePtr, Event, HandleType, MemHandle, MemPool, OsHandle, Stream};
use serde_json::{Map, Value as Json};

use super::error::PlayError;
use super::values::{Value, Values};
use crate::reference::{Reference, parse_number};

/// The arguments of a step. Where a method has a default it is the format's.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    map: &'a Map<String, Json>,
    /// A bit for each argument that was looked at, where somebody wants to know.
    read: Option<&'a Cell<u64>>,
}

/// The bit of the argument at a place. No call has as many arguments as there are bits; the rest stay unread.
const fn bit(place: usize) -> u64 {
    if place < 64 { 1 << place } else { 0 }
}

enum Resolved<'v> {
    Number(i128),
    Null,
    Value { value: &'v Value, offset: i128 },
}

impl<'a> Arguments<'a> {
    pub(super) const fn new(map: &'a Map<String, Json>) -> Self {
        Self { map, read: None }
    }

    /// The arguments of a call that must look at all of them: one that it does not know was misspelt.
    pub(super) const fn watched(map: &'a Map<String, Json>, read: &'a Cell<u64>) -> Self {
        Self { map, read: Some(read) }
    }

    /// An argument that nobody has looked at.
    pub(super) fn unread(self) -> Option<&'a str> {
        let read = self.read?.get();
        self.map.keys().enumerate().find(|(place, _)| read & bit(*place) == 0).map(|(_, key)| key.as_str())
    }

    /// An argument that may be absent. A step has so few that hashing the key would take longer than to look at each.
    pub(super) fn get(self, key: &str) -> Option<&'a Json> {
        let (place, (_, json)) = self.map.iter().enumerate().find(|(_, (name, _))| *name == key)?;
        if let Some(read) = self.read {
            read.set(read.get() | bit(place));
        }
        Some(json)
    }

    fn need(self, key: &'static str) -> Result<&'a Json, PlayError> {
        self.get(key).ok_or_else(|| PlayError::MissingArgument { key })
    }

    /// A text.
    pub(super) fn text(self, key: &'static str) -> Result<&'a str, PlayError> {
        let json = self.need(key)?;
        json.as_str().ok_or_else(|| wrong(key, json, "a text"))
    }

    /// A list.
    pub(super) fn list(self, key: &'static str) -> Result<&'a [Json], PlayError> {
        let json = self.need(key)?;
        json.as_array().map(Vec::as_slice).ok_or_else(|| wrong(key, json, "a list"))
    }

    /// A number that fits its type.
    pub(super) fn number<N: TryFrom<i128>>(self, key: &'static str) -> Result<N, PlayError> {
        fitting(key, self.need(key)?)
    }

    /// A number with a default.
    pub(super) fn number_or<N: TryFrom<i128>>(self, key: &'static str, default: N) -> Result<N, PlayError> {
        self.get(key).map_or(Ok(default), |json| fitting(key, json))
    }

    /// A truth value, or 0 or 1; false by default.
    pub(super) fn truth(self, key: &'static str) -> Result<bool, PlayError> {
        match self.get(key) {
            Some(Json::Bool(truth)) => Ok(*truth),
            _ => self.number_or::<u8>(key, 0).map(|number| number != 0),
        }
    }

    /// A size.
    pub(super) fn size(self, key: &'static str) -> Result<ByteSize, PlayError> {
        self.number(key).map(ByteSize::new)
    }

    /// A size, 0 by default.
    pub(super) fn size_or_zero(self, key: &'static str) -> Result<ByteSize, PlayError> {
        self.number_or(key, 0).map(ByteSize::new)
    }

    /// A device, 0 by default.
    pub(super) fn device(self, key: &'static str) -> Result<Device, PlayError> {
        self.number_or(key, 0).map(Device)
    }

    /// Handle types by name or as a bit mask; none by default.
    pub(super) fn handle_types(self, key: &'static str) -> Result<HandleType, PlayError> {
        match self.get(key) {
            None => Ok(HandleType::NONE),
            Some(Json::String(name)) => handle_type(name)
                .ok_or_else(|| wrong(key, &self.map[key], "none, posix_fd, win32, win32_kmt, fabric or a bit mask")),
            Some(_) => self.number(key).map(HandleType),
        }
    }

    /// The name that an argument refers to.
    pub(super) fn name_of(self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(Json::as_str).and_then(Reference::parse).map(|reference| reference.name)
    }

    /// An address.
    pub(super) fn address(self, key: &'static str, values: &Values) -> Result<DevicePtr, PlayError> {
        address(key, self.need(key)?, values)
    }

    /// An address, null by default.
    pub(super) fn address_or_null(self, key: &'static str, values: &Values) -> Result<DevicePtr, PlayError> {
        self.get(key).map_or(Ok(DevicePtr::new(0)), |json| address(key, json, values))
    }

    /// A memory handle: a value by name, or a number that nobody handed out.
    pub(super) fn memory(self, key: &'static str, values: &Values) -> Result<MemHandle, PlayError> {
        let raw = raw(key, self.need(key)?, values, "a memory handle", |value| match value {
            Value::Memory(handle) => Some(handle.as_raw()),
            _ => None,
        })?;
        // SAFETY: the number comes from this process's driver, or the trace means to show how a wrong one crashes it.
        Ok(unsafe { MemHandle::from_raw(raw) })
    }

    /// A context; `null` is none.
    pub(super) fn context(self, key: &'static str, values: &Values) -> Result<Option<Context>, PlayError> {
        let raw = self.context_raw(key, values)?;
        // SAFETY: the number comes from this process's driver, or the trace means to show how a wrong one crashes it.
        Ok((raw != 0).then(|| unsafe { Context::from_raw(raw) }))
    }

    /// A context, where the call takes no `None`: `null` is the null handle.
    pub(super) fn context_handle(self, key: &'static str, values: &Values) -> Result<Context, PlayError> {
        let raw = self.context_raw(key, values)?;
        // SAFETY: the number comes from this process's driver, or the trace means to show how a wrong one crashes it.
        Ok(unsafe { Context::from_raw(raw) })
    }

    fn context_raw(self, key: &'static str, values: &Values) -> Result<u64, PlayError> {
        raw(key, self.need(key)?, values, "a context or null", |value| match value {
            Value::Context(context) => Some(context.as_raw()),
            _ => None,
        })
    }

    /// A memory pool; `null` is the null handle.
    pub(super) fn pool(self, key: &'static str, values: &Values) -> Result<MemPool, PlayError> {
        let raw = raw(key, self.need(key)?, values, "a memory pool", |value| match value {
            Value::Pool(pool) => Some(pool.as_raw()),
            _ => None,
        })?;
        // SAFETY: the number comes from this process's driver, or the trace means to show how a wrong one crashes it.
        Ok(unsafe { MemPool::from_raw(raw) })
    }

    /// A stream, the null stream by default.
    pub(super) fn stream_or_null(self, key: &'static str, values: &Values) -> Result<Stream, PlayError> {
        if self.get(key).is_some() { self.stream(key, values) } else { Ok(Stream::NULL) }
    }

    /// A stream.
    pub(super) fn stream(self, key: &'static str, values: &Values) -> Result<Stream, PlayError> {
        let raw = raw(key, self.need(key)?, values, "a stream", |value| match value {
            Value::Stream(stream) => Some(stream.as_raw()),
            _ => None,
        })?;
        // SAFETY: the number comes from this process's driver, or the trace means to show how a wrong one crashes it.
        Ok(unsafe { Stream::from_raw(raw) })
    }

    /// An event.
    pub(super) fn event(self, key: &'static str, values: &Values) -> Result<Event, PlayError> {
        let raw = raw(key, self.need(key)?, values, "an event", |value| match value {
            Value::Event(event) => Some(event.as_raw()),
            _ => None,
        })?;
        // SAFETY: the number comes from this process's driver, or the trace means to show how a wrong one crashes it.
        Ok(unsafe { Event::from_raw(raw) })
    }

    /// A shareable handle: a descriptor by name, open or closed, a number that stands for one, or a fabric handle.
    pub(super) fn os_handle<'v>(self, key: &'static str, values: &'v Values) -> Result<OsHandle<'v>, PlayError> {
        let json = self.need(key)?;
        let refuse = || wrong(key, json, "a descriptor, its number, a fabric handle or an NT handle");
        match resolve(key, json, values)? {
            Resolved::Number(number) => RawFd::try_from(number).map(OsHandle::FdNumber).map_err(|_| refuse()),
            Resolved::Value { value: Value::Descriptor(fd), offset: 0 } => Ok(OsHandle::Fd(fd.as_fd())),
            Resolved::Value { value: Value::Closed(number), offset: 0 } => Ok(OsHandle::FdNumber(*number)),
            Resolved::Value { value: Value::Fabric(handle), offset: 0 } => Ok(OsHandle::Fabric(handle)),
            Resolved::Value { value: Value::Win32(handle), offset: 0 } => Ok(OsHandle::Win32(*handle)),
            Resolved::Value { .. } | Resolved::Null => Err(refuse()),
        }
    }
}

/// The error of an argument of a wrong type.
pub(super) fn wrong(key: &'static str, got: &Json, expected: &'static str) -> PlayError {
    PlayError::WrongArgument { key, expected, got: got.to_string() }
}

fn fitting<N: TryFrom<i128>>(key: &'static str, json: &Json) -> Result<N, PlayError> {
    number(json).ok_or_else(|| wrong(key, json, "a number in the range of its type"))
}

/// A number, or a text that is one, if it fits its type.
pub(super) fn number<N: TryFrom<i128>>(json: &Json) -> Option<N> {
    let number = match json {
        Json::Number(number) => number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)),
        Json::String(text) => parse_number(text).map(i128::from),
        _ => None,
    };
    number.and_then(|number| N::try_from(number).ok())
}

/// An address: a reference, or a number that stands for itself.
pub(super) fn address(key: &'static str, json: &Json, values: &Values) -> Result<DevicePtr, PlayError> {
    let sum = match resolve(key, json, values)? {
        Resolved::Number(number) => number,
        Resolved::Value { value: Value::Address(start), offset } => i128::from(start.get()) + offset,
        Resolved::Value { .. } | Resolved::Null => return Err(wrong(key, json, "an address")),
    };
    u64::try_from(sum).map(DevicePtr::new).map_err(|_| PlayError::AddressOverflow { reference: json.to_string() })
}

/// An opaque handle as a number: a value of the right kind, a number that stands for itself, or `null` as 0.
fn raw(
    key: &'static str,
    json: &Json,
    values: &Values,
    expected: &'static str,
    of: impl Fn(&Value) -> Option<u64>,
) -> Result<u64, PlayError> {
    let raw = match resolve(key, json, values)? {
        Resolved::Number(number) => u64::try_from(number).ok(),
        Resolved::Null => Some(0),
        Resolved::Value { value, offset: 0 } => of(value),
        Resolved::Value { .. } => None,
    };
    raw.ok_or_else(|| wrong(key, json, expected))
}

fn resolve<'v>(key: &'static str, json: &Json, values: &'v Values) -> Result<Resolved<'v>, PlayError> {
    match json {
        Json::Null => Ok(Resolved::Null),
        Json::String(text) if Reference::is_meant(text) => {
            let refuse = || wrong(key, json, "a reference such as $name or $name+4096");
            let Reference { name, offset } = Reference::parse(text).ok_or_else(refuse)?;
            let value = values.get(name).ok_or_else(|| PlayError::NoValue { name: name.to_owned() })?;
            Ok(Resolved::Value { value, offset })
        }
        _ => number(json).map(Resolved::Number).ok_or_else(|| wrong(key, json, "a reference or a number")),
    }
}

fn handle_type(name: &str) -> Option<HandleType> {
    match name {
        "none" => Some(HandleType::NONE),
        "posix_fd" => Some(HandleType::POSIX_FILE_DESCRIPTOR),
        "win32" => Some(HandleType::WIN32),
        "win32_kmt" => Some(HandleType::WIN32_KMT),
        "fabric" => Some(HandleType::FABRIC),
        _ => None,
    }
}
