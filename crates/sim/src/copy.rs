//! Copies and fills.

use peermap_driver::{ByteSize, Call, DevicePtr, HostPtr, Result, Stream};
use peermap_model::ThreadId;

use crate::process::Inner;

impl Inner {
    pub(crate) fn memset_d8(&self, thread: ThreadId, ptr: DevicePtr, value: u8, size: ByteSize) -> Result<()> {
        self.call(Call::cuMemsetD8, |process, _| process.memset_d8(thread, ptr, value, size, Stream::NULL))
    }

    pub(crate) fn memset_d8_async(
        &self,
        thread: ThreadId,
        ptr: DevicePtr,
        value: u8,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        self.call(Call::cuMemsetD8Async, |process, _| process.memset_d8(thread, ptr, value, size, stream))
    }

    /// Queues the copy on the null stream and runs what is queued before it, and it.
    pub(crate) fn memcpy_htod(&self, thread: ThreadId, dst: DevicePtr, src: &[u8]) -> Result<()> {
        let host = src.as_ptr().expose_provenance() as u64;
        let size = ByteSize::from(src.len());
        let plan = self.call(Call::cuMemcpyHtoD, |process, _| {
            let work = process.memcpy_htod(thread, dst, host, size, Stream::NULL)?;
            Ok(process.plan_for(work))
        })?;
        self.run(plan)
    }

    /// Queues the copy on the null stream and runs what is queued before it, and it.
    pub(crate) fn memcpy_dtoh(&self, thread: ThreadId, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        let host = dst.as_mut_ptr().expose_provenance() as u64;
        let size = ByteSize::from(dst.len());
        let plan = self.call(Call::cuMemcpyDtoH, |process, _| {
            let work = process.memcpy_dtoh(thread, host, src, size, Stream::NULL)?;
            Ok(process.plan_for(work))
        })?;
        self.run(plan)
    }

    pub(crate) fn memcpy_dtod(&self, thread: ThreadId, dst: DevicePtr, src: DevicePtr, size: ByteSize) -> Result<()> {
        self.call(Call::cuMemcpyDtoD, |process, _| process.memcpy_dtod(thread, dst, src, size, Stream::NULL))
    }

    pub(crate) fn memcpy_dtod_async(
        &self,
        thread: ThreadId,
        dst: DevicePtr,
        src: DevicePtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        self.call(Call::cuMemcpyDtoDAsync, |process, _| process.memcpy_dtod(thread, dst, src, size, stream))
    }

    /// # Safety
    /// As [`peermap_driver::Driver::memcpy_htod_async`].
    pub(crate) unsafe fn memcpy_htod_async(
        &self,
        thread: ThreadId,
        dst: DevicePtr,
        src: HostPtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        self.call(Call::cuMemcpyHtoDAsync, |process, _| {
            process.memcpy_htod(thread, dst, src.as_raw(), size, stream).map(|_| ())
        })
    }

    /// # Safety
    /// As [`peermap_driver::Driver::memcpy_dtoh_async`].
    pub(crate) unsafe fn memcpy_dtoh_async(
        &self,
        thread: ThreadId,
        dst: HostPtr,
        src: DevicePtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        self.call(Call::cuMemcpyDtoHAsync, |process, _| {
            process.memcpy_dtoh(thread, dst.as_raw(), src, size, stream).map(|_| ())
        })
    }
}
