//! Memory of the host that is mapped, as the CPU reaches it.

use crate::error::{DriverError, Result};
use crate::result::CuResult;
use crate::unit::DevicePtr;

/// What the CPU does with memory of the host that `cuMemMap` mapped: it loads and stores at the addresses that devices use.
///
/// That is no call of CUDA, and a bare load without the right to it ends the process. These look at the rights first. A driver
/// that maps no memory of the host needs no bodies of its own.
pub trait HostAccess {
    /// Copies from mapped memory of the host, as loads of the CPU do.
    ///
    /// # Errors
    /// `ILLEGAL_ADDRESS`: the host has no right to read all of it (CPU-1). What lies before the first byte that it may not read
    /// may have been copied.
    fn host_read(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        let _ = (dst, src);
        Err(no_host_access())
    }

    /// Copies to mapped memory of the host, as stores of the CPU do.
    ///
    /// # Errors
    /// `ILLEGAL_ADDRESS`: the host has no right to write all of it (CPU-1). What lies before the first byte that it may not write
    /// may have been written.
    fn host_write(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
        let _ = (dst, src);
        Err(no_host_access())
    }
}

/// The refusal of an access of the CPU, where no more can be told.
#[must_use]
pub const fn no_host_access() -> DriverError {
    DriverError::refused(CuResult::ILLEGAL_ADDRESS)
}
