//! A driver around a driver: something sees each call before and after it is made, and may refuse it.
//!
//! Recorders, call profilers and fault injection are interceptors; the wrapper itself is made from the table of calls.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "the blocks come out of the table of calls, where the lint does not see the comments beside them"
)]

use std::sync::Arc;

use crate::argument::{Argument, Value};
use crate::attribute::{DeviceAttribute, FunctionAttribute, MemPoolAttribute, PointerAttribute};
use crate::call::{Call, Driver};
use crate::error::{DriverError, Result};
use crate::for_each_call;
use crate::handle::{
    Context, Device, Event, Function, HostPtr, IpcEventHandle, IpcMemHandle, MemHandle, MemPool, Module, Stream, Uuid,
};
use crate::host::HostAccess;
use crate::jit::JitOptions;
use crate::launch::{KernelArg, LaunchConfig};
use crate::memory::{
    AccessDesc, AccessFlags, AllocationProp, GranularityOption, HandleType, Location, MemInfo, OsHandle,
    ShareableHandle,
};
use crate::multicast::MulticastObjectProp;
use crate::pool::{MemPoolProps, MemPoolPtrExportData};
use crate::result::CuResult;
use crate::unit::{ByteSize, DevicePtr};

/// Sees calls on their way to a driver.
///
/// The arguments come as a closure, so that an interceptor that does not look at them pays nothing for them.
pub trait Interceptor: Send + Sync {
    /// Called before the call is made. An error takes its place: the driver never sees the call.
    ///
    /// # Errors
    /// Whatever the call is to answer instead.
    fn before(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()>;

    /// Called after the call was made, with its error if it had one.
    fn after(&self, call: Call, error: Option<&DriverError>);
}

impl<I: Interceptor + ?Sized> Interceptor for Arc<I> {
    fn before(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        (**self).before(call, arguments)
    }

    fn after(&self, call: Call, error: Option<&DriverError>) {
        (**self).after(call, error);
    }
}

/// A driver whose calls pass an [`Interceptor`].
pub struct Intercepted<D, I> {
    driver: D,
    interceptor: I,
}

impl<D: Driver, I: Interceptor> Intercepted<D, I> {
    /// Puts the interceptor before the driver.
    pub const fn new(driver: D, interceptor: I) -> Self {
        Self { driver, interceptor }
    }

    /// The interceptor.
    pub const fn interceptor(&self) -> &I {
        &self.interceptor
    }
}

macro_rules! intercept {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl<D: Driver, I: Interceptor> Driver for Intercepted<D, I> {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    self.interceptor.before(Call::$cuda, &|| vec![$((stringify!($arg), Argument::value(&$arg))),*])?;
                    // SAFETY: an unsafe call has the contract of the method around it, which its caller upholds.
                    let answer = $($unsafety)* { self.driver.$name($($arg),*) };
                    self.interceptor.after(Call::$cuda, answer.as_ref().err());
                    answer
                }
            )*
        }
    };
}

for_each_call!(intercept);

/// Passes what the CPU does on: it is no call.
macro_rules! pass_on {
    ($driver:ident => $inner:expr) => {
        fn host_read(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
            let $driver = self;
            $inner.host_read(dst, src)
        }

        fn host_write(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
            let $driver = self;
            $inner.host_write(dst, src)
        }
    };
}

impl<D: Driver, I: Interceptor> HostAccess for Intercepted<D, I> {
    pass_on!(it => it.driver);
}

impl<D: Driver + ?Sized> HostAccess for Arc<D> {
    pass_on!(it => (**it));
}

impl<D: Driver + ?Sized> HostAccess for &D {
    pass_on!(it => (**it));
}

macro_rules! forward {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl<D: Driver + ?Sized> Driver for Arc<D> {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    // SAFETY: an unsafe call has the contract of the method around it, which its caller upholds.
                    $($unsafety)* { (**self).$name($($arg),*) }
                }
            )*
        }

        impl<D: Driver + ?Sized> Driver for &D {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    // SAFETY: an unsafe call has the contract of the method around it, which its caller upholds.
                    $($unsafety)* { (**self).$name($($arg),*) }
                }
            )*
        }
    };
}

for_each_call!(forward);
