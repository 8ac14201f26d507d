//! Contexts, their stacks, peer access.

use peermap_driver::{Call, Context, Device, Result};
use peermap_model::ThreadId;

use crate::handle;
use crate::process::Inner;

impl Inner {
    pub(crate) fn ctx_create(&self, thread: ThreadId, flags: u32, device: Device) -> Result<Context> {
        self.call(Call::cuCtxCreate, |process, outside| process.ctx_create(outside, thread, flags, device))
            .map(handle::context)
    }

    pub(crate) fn ctx_destroy(&self, thread: ThreadId, context: Context) -> Result<()> {
        let plan = self.call(Call::cuCtxDestroy, |process, _| process.ctx_destroy_waits(context))?;
        self.run_whatever_comes(plan)?;
        self.resume(|process, outside| process.ctx_destroy(outside, thread, context))
    }

    pub(crate) fn ctx_set_current(&self, thread: ThreadId, context: Option<Context>) -> Result<()> {
        self.call(Call::cuCtxSetCurrent, |process, _| process.ctx_set_current(thread, context))
    }

    pub(crate) fn ctx_get_current(&self, thread: ThreadId) -> Result<Option<Context>> {
        self.call(Call::cuCtxGetCurrent, |process, _| Ok(process.ctx_get_current(thread).map(handle::context)))
    }

    pub(crate) fn ctx_push_current(&self, thread: ThreadId, context: Context) -> Result<()> {
        self.call(Call::cuCtxPushCurrent, |process, _| process.ctx_push_current(thread, context))
    }

    pub(crate) fn ctx_pop_current(&self, thread: ThreadId) -> Result<Context> {
        self.call(Call::cuCtxPopCurrent, |process, _| process.ctx_pop_current(thread)).map(handle::context)
    }

    pub(crate) fn ctx_get_device(&self, thread: ThreadId) -> Result<Device> {
        self.call(Call::cuCtxGetDevice, |process, _| process.ctx_get_device(thread))
    }

    pub(crate) fn ctx_synchronize(&self, thread: ThreadId) -> Result<()> {
        let plan = self.call(Call::cuCtxSynchronize, |process, _| process.ctx_synchronize(thread))?;
        self.run(plan)?;
        self.resume(|process, outside| process.context_was_seen(outside, thread))
    }

    pub(crate) fn ctx_enable_peer_access(&self, thread: ThreadId, peer: Context, flags: u32) -> Result<()> {
        self.call(Call::cuCtxEnablePeerAccess, |process, outside| {
            process.ctx_enable_peer_access(outside, thread, peer, flags)
        })
    }

    pub(crate) fn ctx_disable_peer_access(&self, thread: ThreadId, peer: Context) -> Result<()> {
        self.call(Call::cuCtxDisablePeerAccess, |process, outside| {
            process.ctx_disable_peer_access(outside, thread, peer)
        })
    }

    pub(crate) fn device_primary_ctx_retain(&self, _: ThreadId, device: Device) -> Result<Context> {
        self.call(Call::cuDevicePrimaryCtxRetain, |process, outside| process.device_primary_ctx_retain(outside, device))
            .map(handle::context)
    }

    pub(crate) fn device_primary_ctx_release(&self, _: ThreadId, device: Device) -> Result<()> {
        let plan =
            self.call(Call::cuDevicePrimaryCtxRelease, |process, _| process.device_primary_ctx_release_waits(device))?;
        self.run_whatever_comes(plan)?;
        self.resume(|process, outside| process.device_primary_ctx_release(outside, device))
    }
}
