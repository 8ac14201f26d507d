//! What the driver hands out: devices, contexts, streams and the other opaque values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A device of this process (`CUdevice`): the ordinal, as `CUDA_VISIBLE_DEVICES` numbers it.
///
/// Between processes a device is named by its [`Uuid`], never by this: two processes may see different devices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Device(pub i32);

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {}", self.0)
    }
}

/// The identity of a device (`CUuuid`), the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    /// As `nvidia-smi` and `CUDA_VISIBLE_DEVICES` write it: `GPU-` and the digits in five groups.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU-")?;
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

impl FromStr for Uuid {
    type Err = ParseUuidError;

    fn from_str(text: &str) -> Result<Self, ParseUuidError> {
        let refuse = || ParseUuidError { text: text.to_owned() };
        let digits: String = text.strip_prefix("GPU-").ok_or_else(refuse)?.chars().filter(|c| *c != '-').collect();
        if digits.len() != 32 || !digits.is_ascii() {
            return Err(refuse());
        }
        let mut bytes = [0; 16];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).map_err(|_| refuse())?;
        }
        Ok(Self(bytes))
    }
}

/// The text is no device UUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no device UUID; one looks like GPU-00112233-4455-6677-8899-aabbccddeeff")]
pub struct ParseUuidError {
    text: String,
}

macro_rules! opaque_handle {
    ($($(#[$doc:meta])* $name:ident ($label:literal);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Makes a handle from a number.
            ///
            /// # Safety
            /// The real driver follows the number as a pointer and crashes the process on one that it did not hand
            /// out or that is gone. The number must come from the driver that gets it, or be meant to crash it.
            #[must_use]
            pub const unsafe fn from_raw(raw: u64) -> Self {
                Self(raw)
            }

            /// The number.
            #[must_use]
            pub const fn as_raw(self) -> u64 {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($label, " {:#x}"), self.0)
            }
        }
    )*};
}

opaque_handle! {
    /// A context (`CUcontext`): a process's state on one device.
    Context("context");
    /// A stream (`CUstream`): a queue of work. [`Stream::NULL`] is the default stream of the current context.
    Stream("stream");
    /// An event (`CUevent`): a mark in a stream.
    Event("event");
    /// Loaded code (`CUmodule`).
    Module("module");
    /// A kernel of a module (`CUfunction`).
    Function("function");
    /// A physical allocation (`CUmemGenericAllocationHandle`).
    MemHandle("memory handle");
    /// A pool of memory that is allocated and freed in the order of streams (`CUmemoryPool`).
    MemPool("memory pool");
    /// Page-locked host memory, by address. [`crate::PinnedBuffer`] owns one and is the safe way to use it.
    HostPtr("host memory");
}

impl Stream {
    /// The default stream of the current context, which waits for and is waited for by its blocking streams.
    pub const NULL: Self = Self(0);
}

impl MemHandle {
    /// The null handle, which every call refuses with `INVALID_VALUE`.
    pub const NULL: Self = Self(0);
}

impl MemPool {
    /// The null pool, which every call refuses with `INVALID_VALUE`.
    pub const NULL: Self = Self(0);
}

/// A legacy handle to `cuMemAlloc` memory (`CUipcMemHandle`): 64 opaque bytes that mean the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IpcMemHandle(pub [u8; 64]);

impl IpcMemHandle {
    /// The flag with which the driver opens one: peer access is enabled where it is needed (`CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`).
    pub const LAZY_ENABLE_PEER_ACCESS: u32 = 1;
}

/// A handle to an inter-process event (`CUipcEventHandle`): 64 opaque bytes that mean the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IpcEventHandle(pub [u8; 64]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_reads_back_as_it_is_shown() {
        let uuid = Uuid([0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255]);
        assert_eq!(uuid.to_string(), "GPU-00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(uuid.to_string().parse(), Ok(uuid));
    }

    #[test]
    fn what_is_no_uuid_is_refused() {
        for text in ["", "GPU-", "00112233-4455-6677-8899-aabbccddeeff", "GPU-zz112233-4455-6677-8899-aabbccddeeff"] {
            assert!(text.parse::<Uuid>().is_err(), "{text}");
        }
    }
}
