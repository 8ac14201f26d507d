//! Streams and events.

use peermap_driver::{Call, Event, Result, Stream};
use peermap_model::{Synchronize, ThreadId};

use crate::handle;
use crate::process::Inner;

impl Inner {
    pub(crate) fn stream_create(&self, thread: ThreadId, flags: u32) -> Result<Stream> {
        self.call(Call::cuStreamCreate, |process, outside| process.stream_create(outside, thread, flags))
            .map(handle::stream)
    }

    pub(crate) fn stream_destroy(&self, thread: ThreadId, stream: Stream) -> Result<()> {
        self.call(Call::cuStreamDestroy, |process, outside| process.stream_destroy(outside, thread, stream))
    }

    pub(crate) fn stream_synchronize(&self, thread: ThreadId, stream: Stream) -> Result<()> {
        let plan = self.call(Call::cuStreamSynchronize, |process, _| process.stream_synchronize(thread, stream))?;
        self.run(plan)?;
        self.resume(|process, outside| process.stream_was_seen(outside, thread, stream))
    }

    pub(crate) fn stream_query(&self, thread: ThreadId, stream: Stream) -> Result<()> {
        self.call(Call::cuStreamQuery, |process, _| process.stream_query(thread, stream))
    }

    pub(crate) fn stream_wait_event(&self, thread: ThreadId, stream: Stream, event: Event, _flags: u32) -> Result<()> {
        self.call(Call::cuStreamWaitEvent, |process, outside| process.stream_wait_event(outside, thread, stream, event))
    }

    pub(crate) fn event_create(&self, thread: ThreadId, flags: u32) -> Result<Event> {
        self.call(Call::cuEventCreate, |process, _| process.event_create(thread, flags)).map(handle::event)
    }

    pub(crate) fn event_destroy(&self, thread: ThreadId, event: Event) -> Result<()> {
        self.call(Call::cuEventDestroy, |process, outside| process.event_destroy(outside, thread, event))
    }

    pub(crate) fn event_record(&self, thread: ThreadId, event: Event, stream: Stream) -> Result<()> {
        self.call(Call::cuEventRecord, |process, outside| process.event_record(outside, thread, event, stream))
    }

    pub(crate) fn event_query(&self, _: ThreadId, event: Event) -> Result<()> {
        self.call(Call::cuEventQuery, |process, outside| process.event_query(outside, event))
    }

    pub(crate) fn event_synchronize(&self, _: ThreadId, event: Event) -> Result<()> {
        let until =
            self.call(Call::cuEventSynchronize, |process, outside| process.event_synchronize(outside, event))?;
        match until {
            Synchronize::Work(plan) => self.run(plan)?,
            Synchronize::Shared(mark) => self.await_shared(&mark)?,
        }
        self.resume(|process, outside| process.event_was_seen(outside, event))
    }

    pub(crate) fn event_elapsed_time(&self, _: ThreadId, start: Event, end: Event) -> Result<f32> {
        self.call(Call::cuEventElapsedTime, |process, _| process.event_elapsed_time(start, end))
    }
}
