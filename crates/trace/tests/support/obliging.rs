//! A driver that grants every call, with values that differ where the driver's own would.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, Context, CuResult, Device, DeviceAttribute, DevicePtr, Driver,
    Event, Function, FunctionAttribute, GranularityOption, HandleType, HostAccess, HostPtr, IpcEventHandle,
    IpcMemHandle, JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MemInfo, MemPool, MemPoolAttribute,
    MemPoolProps, MemPoolPtrExportData, Module, MulticastObjectProp, OsHandle, PointerAttribute, Result,
    ShareableHandle, Stream, Uuid, for_each_call,
};
use peermap_trace::{End, Processes, StartError};

/// Grants every call.
#[derive(Default)]
pub struct Obliging {
    calls: AtomicU64,
}

/// What a call can give, made from a number that no earlier call had.
trait Given {
    fn given(number: u64) -> Self;
}

macro_rules! given {
    ($($kind:ty: $number:ident => $value:expr;)*) => {$(
        impl Given for $kind {
            fn given($number: u64) -> Self {
                $value
            }
        }
    )*};
}

macro_rules! given_handles {
    ($($kind:ty),*) => {$(
        impl Given for $kind {
            fn given(number: u64) -> Self {
                // SAFETY: only the obliging driver sees the handle, and it follows none.
                unsafe { Self::from_raw(number) }
            }
        }
    )*};
}

given! {
    (): _number => ();
    i32: number => number as i32;
    u64: number => number;
    f32: number => number as f32;
    bool: number => number.is_multiple_of(2);
    String: number => number.to_string();
    Uuid: number => Uuid([number as u8; 16]);
    Device: _number => Device(0);
    ByteSize: number => ByteSize::new(number);
    DevicePtr: number => DevicePtr::new(number << 40);
    (DevicePtr, ByteSize): number => (DevicePtr::new(number << 40), ByteSize::new(number));
    MemInfo: number => MemInfo { free: ByteSize::new(number), total: ByteSize::new(number) };
    AccessFlags: number => AccessFlags(number);
    AllocationProp: _number => AllocationProp::pinned_on(0, HandleType::NONE);
    IpcMemHandle: number => IpcMemHandle([number as u8; 64]);
    IpcEventHandle: number => IpcEventHandle([number as u8; 64]);
    MemPoolPtrExportData: number => MemPoolPtrExportData([number as u8; 64]);
    ShareableHandle: _number => ShareableHandle::PosixFd(File::open("/dev/null").expect("it can be opened").into());
    Option<Context>: number => Some(Context::given(number));
}

given_handles!(Context, Stream, Event, Module, Function, MemHandle, MemPool, HostPtr);

macro_rules! obliging {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl Driver for Obliging {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    $(let _ = $arg;)*
                    Ok(Given::given(1 + self.calls.fetch_add(1, Ordering::Relaxed)))
                }
            )*
        }
    };
}

for_each_call!(obliging);

impl HostAccess for Obliging {}

/// Gives every process an obliging driver.
pub struct ObligingProcesses;

impl Processes for ObligingProcesses {
    fn start(&mut self, _: u32) -> std::result::Result<Box<dyn Driver>, StartError> {
        Ok(Box::new(Obliging::default()))
    }

    fn end(&mut self, _: u32, driver: Box<dyn Driver>, _: End) {
        drop(driver);
    }
}
