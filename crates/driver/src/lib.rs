//! The CUDA driver API as one object-safe trait.
//!
//! Words are CUDA's own: a method of [`Driver`] is the driver call in snake case without `cu`, so `cuMemMap` is
//! [`Driver::mem_map`], and an error is the `CUresult` by name ([`CuResult`]). Nobody who knows the CUDA manual has to
//! learn a name here.
//!
//! Each call is declared once, in the table in `calls.rs` ([`for_each_call!`]). The trait, the list of calls
//! ([`Call`]) and the wrapper that sees every call ([`Intercepted`]) are made from it.
//!
//! This crate does no I/O and calls no driver. The backends are `peermap-cuda` (the real library) and `peermap-sim`
//! (the simulated one).

mod argument;
mod attribute;
mod call;
mod calls;
mod error;
mod handle;
mod host;
mod intercept;
mod jit;
mod launch;
mod memory;
mod multicast;
mod pinned;
mod pool;
mod result;
mod unit;

pub use argument::{Argument, Value};
pub use attribute::{DeviceAttribute, FunctionAttribute, MemPoolAttribute, PointerAttribute};
pub use call::{Call, Driver};
pub use error::{CallSite, DriverError, Explanation, Result, RuleId, with_causes};
pub use handle::{
    Context, Device, Event, Function, HostPtr, IpcEventHandle, IpcMemHandle, MemHandle, MemPool, Module,
    ParseUuidError, Stream, Uuid,
};
pub use host::{HostAccess, no_host_access};
pub use intercept::{Intercepted, Interceptor};
pub use jit::{JitLog, JitOptions};
pub use launch::{Dim3, KernelArg, LaunchConfig};
pub use memory::{
    AccessDesc, AccessFlags, AllocationProp, AllocationType, CompressionType, FabricHandle, GranularityOption,
    HandleType, Location, LocationType, MemInfo, OsHandle, ShareableHandle, Win32Handle,
};
pub use multicast::MulticastObjectProp;
pub use pinned::{InFlight, PinnedBuffer};
pub use pool::{MemPoolProps, MemPoolPtrExportData};
pub use result::CuResult;
pub use unit::{ByteSize, DevicePtr, ParseSizeError};
