//! The trait, made from the table of calls: each call goes to the method of its name in the file of its concern.

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, Context, CuResult, Device, DeviceAttribute, DevicePtr, Driver,
    Event, Function, FunctionAttribute, GranularityOption, HandleType, HostAccess, HostPtr, IpcEventHandle,
    IpcMemHandle, JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MemInfo, MemPool, MemPoolAttribute,
    MemPoolProps, MemPoolPtrExportData, Module, MulticastObjectProp, OsHandle, PointerAttribute, Result,
    ShareableHandle, Stream, Uuid, for_each_call,
};

use crate::process::{SimProcess, SimThread, os_thread};

macro_rules! implement {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl Driver for SimProcess {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    // SAFETY: an unsafe call has the contract of the method around it, which its caller upholds.
                    $($unsafety)* { self.inner.$name(os_thread(), $($arg),*) }
                }
            )*
        }

        impl Driver for SimThread {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    // SAFETY: an unsafe call has the contract of the method around it, which its caller upholds.
                    $($unsafety)* { self.inner.$name(self.thread, $($arg),*) }
                }
            )*
        }
    };
}

for_each_call!(implement);

impl HostAccess for SimProcess {
    fn host_read(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        self.inner.host_read(dst, src)
    }

    fn host_write(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
        self.inner.host_write(dst, src)
    }
}

impl HostAccess for SimThread {
    fn host_read(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        self.inner.host_read(dst, src)
    }

    fn host_write(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
        self.inner.host_write(dst, src)
    }
}
