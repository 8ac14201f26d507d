//! Page-locked host memory.

use std::collections::HashMap;

use peermap_driver::{ByteSize, CuResult, DriverError, HostPtr, Result};
use peermap_model::rules;

/// The page-locked memory of a process, by address.
#[derive(Default)]
pub(crate) struct PinnedMemory {
    allocations: HashMap<u64, Vec<u8>>,
}

impl PinnedMemory {
    pub(crate) fn allocate(&mut self, size: ByteSize) -> Result<HostPtr> {
        if size.is_zero() {
            return Err(rules::HOST_1.refuse(&[], None));
        }
        let out_of_memory = || DriverError::refused(CuResult::OUT_OF_MEMORY);
        let len = size.to_usize().ok_or_else(out_of_memory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| out_of_memory())?;
        bytes.resize(len, 0);
        let address = bytes.as_mut_ptr().expose_provenance() as u64;
        self.allocations.insert(address, bytes);
        // SAFETY: the number is the address of memory that this process just allocated.
        Ok(unsafe { HostPtr::from_raw(address) })
    }

    pub(crate) fn free(&mut self, ptr: HostPtr) -> Result<()> {
        match self.allocations.remove(&ptr.as_raw()) {
            Some(_) => Ok(()),
            None => Err(rules::HOST_2.refuse(&[("ptr", &ptr)], None)),
        }
    }
}
