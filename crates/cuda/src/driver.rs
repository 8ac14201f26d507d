//! The driver as a value, and its implementation of the trait.

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, Context, CuResult, Device, DeviceAttribute, DevicePtr, Driver,
    Event, Function, FunctionAttribute, GranularityOption, HandleType, HostPtr, IpcEventHandle, IpcMemHandle,
    JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MemInfo, MemPool, MemPoolAttribute, MemPoolProps,
    MemPoolPtrExportData, Module, MulticastObjectProp, OsHandle, PointerAttribute, Result, ShareableHandle, Stream,
    Uuid, for_each_call,
};

use crate::library::Library;
use crate::multicast::Door;

/// The driver of this machine, as this process sees it.
///
/// Made by [`CudaDriver::open`]. The driver keeps its state per process: two values of this type are two doors to the
/// same room.
#[derive(Debug)]
pub struct CudaDriver {
    pub(crate) library: Library,
    pub(crate) door: Door,
}

// Each call has an inherent method of its name in the file of its concern, which the path below prefers to the trait's.
macro_rules! delegate {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        #[deny(unconditional_recursion)]
        impl Driver for CudaDriver {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    // SAFETY: an unsafe call has the contract of the method around it, which its caller upholds.
                    $($unsafety)* { Self::$name(self, $($arg),*) }
                }
            )*
        }
    };
}

for_each_call!(delegate);
