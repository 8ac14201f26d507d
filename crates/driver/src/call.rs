//! The trait and the list of calls, made from the table.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attribute::{DeviceAttribute, FunctionAttribute, MemPoolAttribute, PointerAttribute};
use crate::error::Result;
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

macro_rules! define {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        /// The driver, as one process sees it.
        ///
        /// There are no default bodies: a backend answers every call. What it lacks it reports as the driver would,
        /// with `NOT_SUPPORTED`, or as [`DriverError::NotModelled`](crate::DriverError::NotModelled), never as success.
        ///
        /// The current context belongs to the calling host thread, as in CUDA.
        ///
        /// Every call but [`init`](Self::init), [`driver_get_version`](Self::driver_get_version) and the two about
        /// errors answers `NOT_INITIALIZED` before `init` (INIT-1). Calls that need a context answer the code of an
        /// earlier device fault for ever after (FAULT-1).
        ///
        /// A method is `unsafe` only where a wrong argument can break host memory on the real driver. Identifiers such
        /// as `MAP-3` name the rules of the simulator, which its refusals carry.
        pub trait Driver: HostAccess + Send + Sync {
            $(
                $(#[$doc])*
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output>;
            )*
        }

        /// A call of the driver, by CUDA's name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[expect(non_camel_case_types, reason = "the names are CUDA's")]
        #[non_exhaustive]
        pub enum Call {
            $(
                #[doc = concat!("[`Driver::", stringify!($name), "`]")]
                $cuda,
            )*
        }

        impl Call {
            /// Every call, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$cuda,)*];

            /// CUDA's name: `cuMemMap`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$cuda => stringify!($cuda),)*
                }
            }

            /// The name of the method: `mem_map`.
            #[must_use]
            pub const fn method(self) -> &'static str {
                match self {
                    $(Self::$cuda => stringify!($name),)*
                }
            }
        }
    };
}

for_each_call!(define);

impl Call {
    /// The call of CUDA's name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|call| call.name() == name)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
