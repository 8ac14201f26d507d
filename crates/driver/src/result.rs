//! `CUresult`: what a driver answers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a call answered (`CUresult`).
///
/// A number and no closed enum: a driver may answer with a code that is newer than this list, and that must not be
/// undefined behaviour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CuResult(u32);

macro_rules! results {
    ($($name:ident = $code:literal,)*) => {
        impl CuResult {
            $(
                #[doc = concat!("`CUDA_", stringify!($name), "` or `CUDA_ERROR_", stringify!($name), "`: ", $code, ".")]
                pub const $name: Self = Self($code);
            )*

            /// Every code that has a name here.
            pub const ALL: &[Self] = &[$(Self($code),)*];

            /// The name without the prefix `CUDA_ERROR_` (or `CUDA_` for success), if the code is known here.
            #[must_use]
            pub const fn short_name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

results! {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    PROFILER_DISABLED = 5,
    PROFILER_NOT_INITIALIZED = 6,
    PROFILER_ALREADY_STARTED = 7,
    PROFILER_ALREADY_STOPPED = 8,
    STUB_LIBRARY = 34,
    CALL_REQUIRES_NEWER_DRIVER = 36,
    DEVICE_UNAVAILABLE = 46,
    MULTICAST_RESOURCE_FULL = 47,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    DEVICE_NOT_LICENSED = 102,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    CONTEXT_ALREADY_CURRENT = 202,
    MAP_FAILED = 205,
    UNMAP_FAILED = 206,
    ARRAY_IS_MAPPED = 207,
    ALREADY_MAPPED = 208,
    NO_BINARY_FOR_GPU = 209,
    ALREADY_ACQUIRED = 210,
    NOT_MAPPED = 211,
    NOT_MAPPED_AS_ARRAY = 212,
    NOT_MAPPED_AS_POINTER = 213,
    ECC_UNCORRECTABLE = 214,
    UNSUPPORTED_LIMIT = 215,
    CONTEXT_ALREADY_IN_USE = 216,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    INVALID_GRAPHICS_CONTEXT = 219,
    NVLINK_UNCORRECTABLE = 220,
    JIT_COMPILER_NOT_FOUND = 221,
    UNSUPPORTED_PTX_VERSION = 222,
    JIT_COMPILATION_DISABLED = 223,
    UNSUPPORTED_EXEC_AFFINITY = 224,
    UNSUPPORTED_DEVSIDE_SYNC = 225,
    CONTAINED = 226,
    INSUFFICIENT_LOADER_VERSION = 227,
    INVALID_SOURCE = 300,
    FILE_NOT_FOUND = 301,
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
    SHARED_OBJECT_INIT_FAILED = 303,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    LOSSY_QUERY = 402,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    LAUNCH_INCOMPATIBLE_TEXTURING = 703,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    PRIMARY_CONTEXT_ACTIVE = 708,
    CONTEXT_IS_DESTROYED = 709,
    ASSERT = 710,
    TOO_MANY_PEERS = 711,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    HARDWARE_STACK_ERROR = 714,
    ILLEGAL_INSTRUCTION = 715,
    MISALIGNED_ADDRESS = 716,
    INVALID_ADDRESS_SPACE = 717,
    INVALID_PC = 718,
    LAUNCH_FAILED = 719,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    TENSOR_MEMORY_LEAK = 721,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    SYSTEM_NOT_READY = 802,
    SYSTEM_DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    MPS_CONNECTION_FAILED = 805,
    MPS_RPC_FAILURE = 806,
    MPS_SERVER_NOT_READY = 807,
    MPS_MAX_CLIENTS_REACHED = 808,
    MPS_MAX_CONNECTIONS_REACHED = 809,
    MPS_CLIENT_TERMINATED = 810,
    CDP_NOT_SUPPORTED = 811,
    CDP_VERSION_MISMATCH = 812,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    STREAM_CAPTURE_MERGE = 902,
    STREAM_CAPTURE_UNMATCHED = 903,
    STREAM_CAPTURE_UNJOINED = 904,
    STREAM_CAPTURE_ISOLATION = 905,
    STREAM_CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    STREAM_CAPTURE_WRONG_THREAD = 908,
    TIMEOUT = 909,
    GRAPH_EXEC_UPDATE_FAILURE = 910,
    EXTERNAL_DEVICE = 911,
    INVALID_CLUSTER_SIZE = 912,
    FUNCTION_NOT_LOADED = 913,
    INVALID_RESOURCE_TYPE = 914,
    INVALID_RESOURCE_CONFIGURATION = 915,
    KEY_ROTATION = 916,
    STREAM_DETACHED = 917,
    GRAPH_RECAPTURE_FAILURE = 918,
    FABRIC_NOT_READY = 919,
    UNKNOWN = 999,
}

impl CuResult {
    /// The code of a number.
    #[must_use]
    pub const fn new(code: u32) -> Self {
        Self(code)
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }

    /// Whether the call did what it was asked.
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }

    /// The name as CUDA writes it: `CUDA_SUCCESS`, `CUDA_ERROR_INVALID_VALUE`; an unknown code by its number.
    #[must_use]
    pub fn name(self) -> String {
        match self.short_name() {
            Some("SUCCESS") => "CUDA_SUCCESS".to_owned(),
            Some(name) => format!("CUDA_ERROR_{name}"),
            None => format!("CUDA_ERROR_CODE_{}", self.0),
        }
    }

    /// The code of a name as CUDA writes it, with or without its prefix.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let short = name.strip_prefix("CUDA_ERROR_").or_else(|| name.strip_prefix("CUDA_")).unwrap_or(name);
        Self::ALL.iter().copied().find(|code| code.short_name() == Some(short))
    }
}

impl fmt::Display for CuResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.short_name() {
            Some("SUCCESS") => f.write_str("CUDA_SUCCESS"),
            Some(name) => write!(f, "CUDA_ERROR_{name}"),
            None => write!(f, "CUDA_ERROR_CODE_{}", self.0),
        }
    }
}

impl fmt::Debug for CuResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for code in CuResult::ALL {
            assert_eq!(CuResult::from_name(&code.name()), Some(*code));
        }
    }

    #[test]
    fn an_unknown_code_keeps_its_number() {
        assert_eq!(CuResult::new(123_456).to_string(), "CUDA_ERROR_CODE_123456");
        assert_eq!(CuResult::from_name("CUDA_ERROR_CODE_123456"), None);
    }
}
