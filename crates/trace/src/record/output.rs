//! What calls give, with what a step needs to know of it.

use std::os::fd::{AsRawFd, RawFd};

use peermap_driver::{
    AccessFlags, AllocationProp, ByteSize, Context, Device, DevicePtr, Event, FabricHandle, Function, HostPtr,
    IpcEventHandle, IpcMemHandle, MemHandle, MemInfo, MemPool, MemPoolPtrExportData, Module, ShareableHandle, Stream,
    Uuid, Win32Handle,
};

/// What a call gave.
#[derive(Clone, Copy)]
pub(super) enum Output {
    Nothing,
    Number(i128),
    Address(DevicePtr),
    Range(DevicePtr, ByteSize),
    Memory(MemHandle),
    Context(Option<Context>),
    Stream(Stream),
    Event(Event),
    Module(Module),
    Function(Function),
    Descriptor(RawFd),
    Fabric(FabricHandle),
    Win32(Win32Handle),
    Legacy(IpcMemHandle),
    EventHandle(IpcEventHandle),
    Pool(MemPool),
    PoolPointer(MemPoolPtrExportData),
    Access(AccessFlags),
    Properties(AllocationProp),
    Free(ByteSize),
}

/// What a call can give.
pub(super) trait Gives {
    fn output(&self) -> Output;
}

macro_rules! outputs {
    ($($kind:ty: $self:ident => $value:expr;)*) => {$(
        impl Gives for $kind {
            fn output(&$self) -> Output {
                $value
            }
        }
    )*};
}

outputs! {
    (): self => Output::Nothing;
    i32: self => Output::Number((*self).into());
    u64: self => Output::Number((*self).into());
    bool: self => Output::Number((*self).into());
    ByteSize: self => Output::Number(self.get().into());
    DevicePtr: self => Output::Address(*self);
    (DevicePtr, ByteSize): self => Output::Range(self.0, self.1);
    MemHandle: self => Output::Memory(*self);
    Context: self => Output::Context(Some(*self));
    Option<Context>: self => Output::Context(*self);
    Stream: self => Output::Stream(*self);
    Event: self => Output::Event(*self);
    Module: self => Output::Module(*self);
    Function: self => Output::Function(*self);
    IpcMemHandle: self => Output::Legacy(*self);
    IpcEventHandle: self => Output::EventHandle(*self);
    MemPool: self => Output::Pool(*self);
    MemPoolPtrExportData: self => Output::PoolPointer(*self);
    AccessFlags: self => Output::Access(*self);
    AllocationProp: self => Output::Properties(*self);
    MemInfo: self => Output::Free(self.free);
    ShareableHandle: self => match self {
        ShareableHandle::PosixFd(fd) => Output::Descriptor(fd.as_raw_fd()),
        ShareableHandle::Fabric(handle) => Output::Fabric(*handle),
        ShareableHandle::Win32(handle) => Output::Win32(*handle),
    };
    // No step compares a time.
    f32: self => Output::Nothing;
    String: self => Output::Nothing;
    Uuid: self => Output::Nothing;
    Device: self => Output::Nothing;
    HostPtr: self => Output::Nothing;
}
