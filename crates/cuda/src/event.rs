//! Events.

use peermap_driver::{Event, Result, Stream};

use crate::driver::CudaDriver;

impl CudaDriver {
    pub(crate) fn event_create(&self, flags: u32) -> Result<Event> {
        let mut raw = 0;
        // SAFETY: `cuEventCreate` writes one `CUevent`, and checks the flags.
        unsafe { self.library.event_create(&raw mut raw, flags) }?;
        // SAFETY: the driver gave this event out just now.
        Ok(unsafe { Event::from_raw(raw) })
    }

    pub(crate) fn event_destroy(&self, event: Event) -> Result<()> {
        // SAFETY: an `Event` holds what the driver gave out; who made one from another number answered for it there.
        unsafe { self.library.event_destroy(event.as_raw()) }
    }

    pub(crate) fn event_record(&self, event: Event, stream: Stream) -> Result<()> {
        // SAFETY: as `event_destroy`, for the stream too; null is the default stream.
        unsafe { self.library.event_record(event.as_raw(), stream.as_raw()) }
    }

    pub(crate) fn event_query(&self, event: Event) -> Result<()> {
        // SAFETY: as `event_destroy`.
        unsafe { self.library.event_query(event.as_raw()) }
    }

    pub(crate) fn event_synchronize(&self, event: Event) -> Result<()> {
        // SAFETY: as `event_destroy`.
        unsafe { self.library.event_synchronize(event.as_raw()) }
    }

    pub(crate) fn event_elapsed_time(&self, start: Event, end: Event) -> Result<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: `cuEventElapsedTime` writes one `float`; the events are as in `event_destroy`.
        unsafe { self.library.event_elapsed_time(&raw mut milliseconds, start.as_raw(), end.as_raw()) }?;
        Ok(milliseconds)
    }
}
