//! Arguments of calls as values that can be shown, recorded and compared, without knowing the call.

use std::fmt;

use crate::attribute::{DeviceAttribute, FunctionAttribute, MemPoolAttribute, PointerAttribute};
use crate::handle::{
    Context, Device, Event, Function, HostPtr, IpcEventHandle, IpcMemHandle, MemHandle, MemPool, Module, Stream,
};
use crate::jit::JitOptions;
use crate::launch::{KernelArg, LaunchConfig};
use crate::memory::{
    AccessDesc, AccessFlags, AllocationProp, CompressionType, GranularityOption, HandleType, Location, LocationType,
    OsHandle,
};
use crate::multicast::MulticastObjectProp;
use crate::pool::{MemPoolProps, MemPoolPtrExportData};
use crate::result::CuResult;
use crate::unit::{ByteSize, DevicePtr};

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number, such as flags or an ordinal.
    Number(i128),
    /// A device address.
    Address(u64),
    /// A size.
    Bytes(u64),
    /// An opaque handle.
    Handle(u64),
    /// A name.
    Text(String),
    /// Several values.
    List(Vec<Value>),
    /// Several values with names.
    Fields(Vec<(&'static str, Value)>),
    /// No value.
    None,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Address(value) | Self::Handle(value) => write!(f, "{value:#x}"),
            Self::Bytes(bytes) => write!(f, "{}", ByteSize::new(*bytes)),
            Self::Text(text) => f.write_str(text),
            Self::None => f.write_str("none"),
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Fields(fields) => {
                f.write_str("{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}{name} {value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// What can be an argument of a call.
pub trait Argument {
    /// The argument as a value. Buffers are shown by their length.
    fn value(&self) -> Value;
}

macro_rules! arguments {
    ($($kind:ty: $self:ident => $value:expr;)*) => {$(
        impl Argument for $kind {
            fn value(&$self) -> Value {
                $value
            }
        }
    )*};
}

arguments! {
    u8: self => Value::Number(i128::from(*self));
    u32: self => Value::Number(i128::from(*self));
    i32: self => Value::Number(i128::from(*self));
    u64: self => Value::Number(i128::from(*self));
    bool: self => Value::Number(i128::from(*self));
    str: self => Value::Text(self.to_owned());
    [u8]: self => Value::Bytes(self.len() as u64);
    DevicePtr: self => Value::Address(self.get());
    ByteSize: self => Value::Bytes(self.get());
    Device: self => Value::Number(i128::from(self.0));
    Context: self => Value::Handle(self.as_raw());
    Stream: self => Value::Handle(self.as_raw());
    Event: self => Value::Handle(self.as_raw());
    Module: self => Value::Handle(self.as_raw());
    Function: self => Value::Handle(self.as_raw());
    MemHandle: self => Value::Handle(self.as_raw());
    MemPool: self => Value::Handle(self.as_raw());
    HostPtr: self => Value::Handle(self.as_raw());
    IpcMemHandle: self => Value::Bytes(self.0.len() as u64);
    IpcEventHandle: self => Value::Bytes(self.0.len() as u64);
    MemPoolPtrExportData: self => Value::Bytes(self.0.len() as u64);
    CuResult: self => Value::Text(self.name());
    DeviceAttribute: self => Value::Text(self.to_string());
    PointerAttribute: self => Value::Text(self.to_string());
    FunctionAttribute: self => Value::Text(self.to_string());
    MemPoolAttribute: self => Value::Text(self.to_string());
    LocationType: self => Value::Text(self.to_string());
    HandleType: self => Value::Text(self.to_string());
    CompressionType: self => Value::Text(self.to_string());
    GranularityOption: self => Value::Text(self.to_string());
    AccessFlags: self => Value::Text(self.to_string());
    Location: self => Value::Fields(vec![("type", self.kind.value()), ("id", self.id.value())]);
    AccessDesc: self => Value::Fields(vec![("location", self.location.value()), ("flags", self.flags.value())]);
    AllocationProp: self => Value::Fields(vec![
        ("type", self.allocation_type.0.value()),
        ("handle_types", self.requested_handle_types.value()),
        ("location", self.location.value()),
        ("compression", self.compression.value()),
        ("gpu_direct_rdma", self.gpu_direct_rdma.value()),
    ]);
    MemPoolProps: self => Value::Fields(vec![
        ("type", self.allocation_type.0.value()),
        ("handle_types", self.handle_types.value()),
        ("location", self.location.value()),
        ("max_size", self.max_size.value()),
    ]);
    MulticastObjectProp: self => Value::Fields(vec![
        ("num_devices", self.num_devices.value()),
        ("size", self.size.value()),
        ("handle_types", self.handle_types.value()),
        ("flags", self.flags.value()),
    ]);
    OsHandle<'_>: self => match self {
        OsHandle::Fd(_) | OsHandle::FdNumber(_) => Value::Number(self.fd_number().map_or(-1, i128::from)),
        OsHandle::Fabric(handle) => Value::Bytes(handle.0.len() as u64),
        OsHandle::Win32(handle) => Value::Handle(handle.0),
    };
    JitOptions: self => Value::Fields(vec![("max_registers", self.max_registers.map_or(Value::None, |n| n.value()))]);
    KernelArg: self => Value::Text(self.to_string());
    LaunchConfig: self => Value::Fields(vec![
        ("function", self.function.value()),
        ("grid", Value::Text(self.grid.to_string())),
        ("block", Value::Text(self.block.to_string())),
        ("shared", self.shared_bytes.value()),
        ("stream", self.stream.value()),
    ]);
}

impl<T: Argument> Argument for Option<T> {
    fn value(&self) -> Value {
        self.as_ref().map_or(Value::None, Argument::value)
    }
}

impl Argument for [AccessDesc] {
    fn value(&self) -> Value {
        Value::List(self.iter().map(Argument::value).collect())
    }
}

impl Argument for [KernelArg] {
    fn value(&self) -> Value {
        Value::List(self.iter().map(Argument::value).collect())
    }
}

impl<T: Argument + ?Sized> Argument for &T {
    fn value(&self) -> Value {
        (**self).value()
    }
}

impl<T: Argument + ?Sized> Argument for &mut T {
    fn value(&self) -> Value {
        (**self).value()
    }
}
