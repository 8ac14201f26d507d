//! Contexts, peer access between them, and the primary context of a device.

use peermap_driver::{Context, Device, Result};

use crate::driver::CudaDriver;

/// A context that the driver wrote; null is none.
///
/// # Safety
/// The driver gave the number out as a context.
unsafe fn given(raw: u64) -> Option<Context> {
    // SAFETY: the caller vouches for the number.
    (raw != 0).then(|| unsafe { Context::from_raw(raw) })
}

impl CudaDriver {
    pub(crate) fn ctx_create(&self, flags: u32, device: Device) -> Result<Context> {
        let mut raw = 0;
        // SAFETY: `cuCtxCreate_v2` writes one `CUcontext`, and checks flags and device.
        unsafe { self.library.ctx_create(&raw mut raw, flags, device.0) }?;
        // SAFETY: the driver gave this context out just now.
        Ok(unsafe { Context::from_raw(raw) })
    }

    pub(crate) fn ctx_destroy(&self, context: Context) -> Result<()> {
        // SAFETY: a `Context` holds what the driver gave out; who made one from another number answered for it there.
        unsafe { self.library.ctx_destroy(context.as_raw()) }
    }

    pub(crate) fn ctx_set_current(&self, context: Option<Context>) -> Result<()> {
        // SAFETY: as `ctx_destroy`; the manual allows null, which takes the current context off.
        unsafe { self.library.ctx_set_current(context.map_or(0, Context::as_raw)) }
    }

    pub(crate) fn ctx_get_current(&self) -> Result<Option<Context>> {
        let mut raw = 0;
        // SAFETY: `cuCtxGetCurrent` writes one `CUcontext`, null if none is current.
        unsafe { self.library.ctx_get_current(&raw mut raw) }?;
        // SAFETY: the driver wrote the number as a context.
        Ok(unsafe { given(raw) })
    }

    pub(crate) fn ctx_push_current(&self, context: Context) -> Result<()> {
        // SAFETY: as `ctx_destroy`.
        unsafe { self.library.ctx_push_current(context.as_raw()) }
    }

    pub(crate) fn ctx_pop_current(&self) -> Result<Context> {
        let mut raw = 0;
        // SAFETY: `cuCtxPopCurrent_v2` writes one `CUcontext`.
        unsafe { self.library.ctx_pop_current(&raw mut raw) }?;
        // SAFETY: the driver took this context off its own stack.
        Ok(unsafe { Context::from_raw(raw) })
    }

    pub(crate) fn ctx_get_device(&self) -> Result<Device> {
        let mut device = 0;
        // SAFETY: `cuCtxGetDevice` writes one `CUdevice`, which is an `int`.
        unsafe { self.library.ctx_get_device(&raw mut device) }?;
        Ok(Device(device))
    }

    pub(crate) fn ctx_synchronize(&self) -> Result<()> {
        // SAFETY: `cuCtxSynchronize` takes nothing and answers for a thread without a context.
        unsafe { self.library.ctx_synchronize() }
    }

    pub(crate) fn ctx_enable_peer_access(&self, peer: Context, flags: u32) -> Result<()> {
        // SAFETY: as `ctx_destroy`.
        unsafe { self.library.ctx_enable_peer_access(peer.as_raw(), flags) }
    }

    pub(crate) fn ctx_disable_peer_access(&self, peer: Context) -> Result<()> {
        // SAFETY: as `ctx_destroy`.
        unsafe { self.library.ctx_disable_peer_access(peer.as_raw()) }
    }

    pub(crate) fn device_primary_ctx_retain(&self, device: Device) -> Result<Context> {
        let mut raw = 0;
        // SAFETY: `cuDevicePrimaryCtxRetain` writes one `CUcontext`, and checks the device.
        unsafe { self.library.device_primary_ctx_retain(&raw mut raw, device.0) }?;
        // SAFETY: the driver gave this context out just now.
        Ok(unsafe { Context::from_raw(raw) })
    }

    pub(crate) fn device_primary_ctx_release(&self, device: Device) -> Result<()> {
        // SAFETY: `cuDevicePrimaryCtxRelease_v2` takes a number, which it checks.
        unsafe { self.library.device_primary_ctx_release(device.0) }
    }
}
