//! Streams.

use peermap_driver::{Event, Result, Stream};

use crate::driver::CudaDriver;

impl CudaDriver {
    pub(crate) fn stream_create(&self, flags: u32) -> Result<Stream> {
        let mut raw = 0;
        // SAFETY: `cuStreamCreate` writes one `CUstream`, and checks the flags.
        unsafe { self.library.stream_create(&raw mut raw, flags) }?;
        // SAFETY: the driver gave this stream out just now.
        Ok(unsafe { Stream::from_raw(raw) })
    }

    pub(crate) fn stream_destroy(&self, stream: Stream) -> Result<()> {
        // SAFETY: a `Stream` holds what the driver gave out; who made one from another number answered for it there.
        unsafe { self.library.stream_destroy(stream.as_raw()) }
    }

    pub(crate) fn stream_synchronize(&self, stream: Stream) -> Result<()> {
        // SAFETY: as `stream_destroy`; null is the default stream.
        unsafe { self.library.stream_synchronize(stream.as_raw()) }
    }

    pub(crate) fn stream_query(&self, stream: Stream) -> Result<()> {
        // SAFETY: as `stream_destroy`; null is the default stream.
        unsafe { self.library.stream_query(stream.as_raw()) }
    }

    pub(crate) fn stream_wait_event(&self, stream: Stream, event: Event, flags: u32) -> Result<()> {
        // SAFETY: as `stream_destroy`, for the event too; null is the default stream.
        unsafe { self.library.stream_wait_event(stream.as_raw(), event.as_raw(), flags) }
    }
}
