//! Loads and stores of the CPU to mapped memory of the host.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use peermap_driver::{
    AccessFlags, AllocationProp, ByteSize, DevicePtr, GranularityOption, HandleType, HostAccess, Location, Result,
    no_host_access,
};

use crate::driver::CudaDriver;

/// Where memory of the host lies; the driver ignores which node when it is asked about rights.
const HOST: Location = Location::host_numa(0);

/// Whoever unmaps or changes rights has this alone, so that no access of the CPU meets a mapping that is going. All values of
/// [`CudaDriver`] share the mappings of the process.
static MAPPINGS: RwLock<()> = RwLock::new(());

/// Keeps mappings as they are.
fn keep_mappings() -> RwLockReadGuard<'static, ()> {
    MAPPINGS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for accesses of the CPU, and keeps others away.
pub(crate) fn change_mappings() -> RwLockWriteGuard<'static, ()> {
    MAPPINGS.write().unwrap_or_else(PoisonError::into_inner)
}

impl CudaDriver {
    /// Whether the host has these rights on a range, asked for each piece in which memory can be mapped.
    fn check_host(&self, start: DevicePtr, len: usize, needed: AccessFlags) -> Result<()> {
        let prop = AllocationProp { location: HOST, ..AllocationProp::pinned_on(0, HandleType::NONE) };
        let granularity = self.mem_get_allocation_granularity(&prop, GranularityOption::MINIMUM)?;
        let end = start.checked_add(ByteSize::from(len)).ok_or(no_host_access())?;
        let mut at = start;
        while at < end {
            let given = self.mem_get_access(at, HOST).map_err(|_| no_host_access())?;
            if given.0 & needed.0 != needed.0 {
                return Err(no_host_access());
            }
            let inside = at.get() % granularity.get();
            at = at.checked_add(ByteSize::new(granularity.get() - inside)).ok_or(no_host_access())?;
        }
        Ok(())
    }
}

impl HostAccess for CudaDriver {
    fn host_read(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        let _kept = keep_mappings();
        self.check_host(src, dst.len(), AccessFlags::READ)?;
        let start = std::ptr::with_exposed_provenance::<u8>(src.get() as usize);
        // SAFETY: the driver says that the host may read all of these addresses, and they stay mapped while the lock is held.
        // `dst` is as long, and no reference to mapped memory exists that it could be.
        unsafe { std::ptr::copy_nonoverlapping(start, dst.as_mut_ptr(), dst.len()) };
        Ok(())
    }

    fn host_write(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
        let _kept = keep_mappings();
        self.check_host(dst, src.len(), AccessFlags::READWRITE)?;
        let start = std::ptr::with_exposed_provenance_mut::<u8>(dst.get() as usize);
        // SAFETY: the driver says that the host may write all of these addresses, and they stay mapped while the lock is held.
        // `src` is as long, and no reference to mapped memory exists that it could be.
        unsafe { std::ptr::copy_nonoverlapping(src.as_ptr(), start, src.len()) };
        Ok(())
    }
}
