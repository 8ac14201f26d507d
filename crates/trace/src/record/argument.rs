//! Arguments of calls, with what a step needs to know of them.

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Context, CuResult, Device, DeviceAttribute, DevicePtr, Event, Function,
    FunctionAttribute, GranularityOption, HandleType, HostPtr, IpcEventHandle, IpcMemHandle, JitOptions, KernelArg,
    LaunchConfig, Location, MemHandle, MemPool, MemPoolAttribute, MemPoolProps, MemPoolPtrExportData, Module,
    MulticastObjectProp, OsHandle, PointerAttribute, Stream,
};

/// An argument of a call.
pub(super) enum Given<'a> {
    Number(i128),
    Address(DevicePtr),
    Memory(MemHandle),
    Context(Option<Context>),
    Stream(Stream),
    Event(Event),
    Module(Module),
    Text(String),
    Properties(AllocationProp),
    Place(Location),
    HandleTypes(HandleType),
    Granularity(GranularityOption),
    Access(&'a [AccessDesc]),
    Shared(OsHandle<'a>),
    Legacy(&'a IpcMemHandle),
    EventHandle(&'a IpcEventHandle),
    Pool(MemPool),
    PoolProps(MemPoolProps),
    PoolPointer(&'a MemPoolPtrExportData),
    MulticastProp(MulticastObjectProp),
    Bytes(&'a [u8]),
    Launch(&'a LaunchConfig),
    KernelArgs(&'a [KernelArg]),
    /// What no step has.
    Other,
}

/// What can be an argument of a call.
pub(super) trait Argument {
    fn given(&self) -> Given<'_>;
}

macro_rules! arguments {
    ($($kind:ty: $self:ident => $value:expr;)*) => {$(
        impl Argument for $kind {
            fn given(&$self) -> Given<'_> {
                $value
            }
        }
    )*};
}

arguments! {
    u8: self => Given::Number((*self).into());
    u32: self => Given::Number((*self).into());
    i32: self => Given::Number((*self).into());
    u64: self => Given::Number((*self).into());
    ByteSize: self => Given::Number(self.get().into());
    Device: self => Given::Number(self.0.into());
    DevicePtr: self => Given::Address(*self);
    MemHandle: self => Given::Memory(*self);
    Context: self => Given::Context(Some(*self));
    Option<Context>: self => Given::Context(*self);
    Stream: self => Given::Stream(*self);
    Event: self => Given::Event(*self);
    Module: self => Given::Module(*self);
    str: self => Given::Text(self.to_owned());
    DeviceAttribute: self => Given::Text(self.to_string());
    PointerAttribute: self => Given::Text(self.to_string());
    AllocationProp: self => Given::Properties(*self);
    Location: self => Given::Place(*self);
    HandleType: self => Given::HandleTypes(*self);
    GranularityOption: self => Given::Granularity(*self);
    [AccessDesc]: self => Given::Access(self);
    OsHandle<'_>: self => Given::Shared(*self);
    IpcMemHandle: self => Given::Legacy(self);
    IpcEventHandle: self => Given::EventHandle(self);
    MemPool: self => Given::Pool(*self);
    MemPoolProps: self => Given::PoolProps(*self);
    MemPoolPtrExportData: self => Given::PoolPointer(self);
    MulticastObjectProp: self => Given::MulticastProp(*self);
    MemPoolAttribute: self => Given::Text(self.to_string());
    [u8]: self => Given::Bytes(self);
    LaunchConfig: self => Given::Launch(self);
    [KernelArg]: self => Given::KernelArgs(self);
    Function: self => Given::Other;
    FunctionAttribute: self => Given::Other;
    HostPtr: self => Given::Other;
    CuResult: self => Given::Other;
    JitOptions: self => Given::Other;
}

impl<T: Argument + ?Sized> Argument for &T {
    fn given(&self) -> Given<'_> {
        (**self).given()
    }
}

impl<T: Argument + ?Sized> Argument for &mut T {
    fn given(&self) -> Given<'_> {
        (**self).given()
    }
}
