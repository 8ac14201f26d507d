//! Memory of `cuMemAlloc`, page-locked host memory, and how much is left.

use peermap_driver::{ByteSize, Call, DevicePtr, HostPtr, MemInfo, Result};
use peermap_model::ThreadId;

use crate::process::Inner;

impl Inner {
    pub(crate) fn mem_alloc(&self, thread: ThreadId, size: ByteSize) -> Result<DevicePtr> {
        self.call(Call::cuMemAlloc, |process, outside| process.mem_alloc(outside, thread, size))
    }

    pub(crate) fn mem_free(&self, _: ThreadId, ptr: DevicePtr) -> Result<()> {
        let plan = self.call(Call::cuMemFree, |process, _| process.mem_free_waits(ptr))?;
        self.run(plan)?;
        self.resume(|process, outside| process.mem_free(outside, ptr))
    }

    pub(crate) fn mem_get_info(&self, thread: ThreadId) -> Result<MemInfo> {
        self.call(Call::cuMemGetInfo, |process, outside| process.mem_get_info(outside, thread))
    }

    pub(crate) fn mem_host_alloc(&self, thread: ThreadId, size: ByteSize, _flags: u32) -> Result<HostPtr> {
        let mut state = self.enter(Call::cuMemHostAlloc)?;
        state.process.ctx_get_device(thread)?;
        state.pinned.allocate(size)
    }

    /// # Safety
    /// As [`peermap_driver::Driver::mem_free_host`].
    pub(crate) unsafe fn mem_free_host(&self, _: ThreadId, ptr: HostPtr) -> Result<()> {
        self.enter(Call::cuMemFreeHost)?.pinned.free(ptr)
    }
}
