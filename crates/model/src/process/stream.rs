//! Streams and events.

use peermap_driver::{CallSite, Event, Result, Stream};

use super::copy::Operation;
use super::queue::{Plan, StreamKey, Wait, WorkId};
use super::shared_event::{Origin, Synchronize};
use super::{Outside, Process, ThreadId};
use crate::rules;

const STREAM_NON_BLOCKING: u32 = 1;
const EVENT_BLOCKING_SYNC: u32 = 1;
const EVENT_DISABLE_TIMING: u32 = 2;
const EVENT_INTERPROCESS: u32 = 4;

/// A stream that exists.
#[derive(Debug)]
pub(super) struct StreamState {
    pub(super) context: u64,
    /// Whether it waits for the null stream and the null stream for it.
    pub(super) blocking: bool,
}

/// An event that exists.
#[derive(Debug)]
pub(super) struct EventState {
    pub(super) context: u64,
    timing: bool,
    pub(super) interprocess: bool,
    pub(super) origin: Origin,
    pub(super) mark: Option<WorkId>,
    passed_at: Option<u64>,
    pub(super) site: CallSite,
}

impl Process {
    /// The queue of a stream, as a call of a thread means it.
    pub(super) fn stream_key(&self, thread: ThreadId, stream: Stream) -> Result<StreamKey> {
        let context = self.current(thread)?;
        if stream == Stream::NULL {
            return Ok(StreamKey { context, stream: 0 });
        }
        match self.streams.get(&stream.as_raw()) {
            Some(state) => Ok(StreamKey { context: state.context, stream: stream.as_raw() }),
            None => Err(rules::STREAM_2.refuse(&[("stream", &stream)], None)),
        }
    }

    pub(super) fn event(&mut self, event: Event) -> Result<&mut EventState> {
        self.events.get_mut(&event.as_raw()).ok_or_else(|| rules::EVENT_2.refuse(&[("event", &event)], None))
    }

    /// `cuStreamCreate`: the raw value of the stream.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-1, STREAM-4.
    pub fn stream_create(&mut self, outside: &mut Outside<'_>, thread: ThreadId, flags: u32) -> Result<u64> {
        let context = self.current(thread)?;
        if flags > STREAM_NON_BLOCKING && rules::STREAM_1.is_on() {
            return Err(rules::STREAM_1.refuse(&[("flags", &flags)], None));
        }
        self.make_place_for_stream(outside, context)?;
        let stream = self.new_opaque();
        self.streams.insert(stream, StreamState { context, blocking: flags == 0 });
        Ok(stream)
    }

    /// `cuStreamDestroy`: work that is queued goes on.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2.
    pub fn stream_destroy(&mut self, outside: &mut Outside<'_>, thread: ThreadId, stream: Stream) -> Result<()> {
        let key = self.stream_key(thread, stream)?;
        match self.streams.remove(&stream.as_raw()) {
            Some(_) => self.stream_is_going(outside, key),
            None => Err(rules::STREAM_2.refuse(&[("stream", &stream)], None)),
        }
    }

    /// What must have ended before `cuStreamSynchronize` returns.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2.
    pub fn stream_synchronize(&mut self, thread: ThreadId, stream: Stream) -> Result<Plan> {
        let key = self.stream_key(thread, stream)?;
        Ok(self.plan_stream(key))
    }

    /// `cuStreamQuery`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, STREAM-3.
    pub fn stream_query(&mut self, thread: ThreadId, stream: Stream) -> Result<()> {
        let key = self.stream_key(thread, stream)?;
        match self.queue.tail(key) {
            Some(_) => {
                self.note_poll();
                Err(rules::STREAM_3.refuse(&[("stream", &stream)], None))
            }
            None => {
                self.stream_has_ended(key);
                Ok(())
            }
        }
    }

    /// `cuStreamWaitEvent`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, EVENT-2.
    pub fn stream_wait_event(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        stream: Stream,
        event: Event,
    ) -> Result<()> {
        let key = self.stream_key(thread, stream)?;
        let EventState { mark, origin, .. } = *self.event(event)?;
        if let Some(shared) = origin.shared() {
            return self.wait_for_shared(outside, key, shared);
        }
        self.frees.follow_event(key, event.as_raw());
        if let Some(mark) = mark.filter(|mark| self.queue.is_pending(*mark)) {
            self.enqueue_after(key, mark);
        }
        Ok(())
    }

    /// `cuEventCreate`: the raw value of the event.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, EVENT-1.
    pub fn event_create(&mut self, thread: ThreadId, flags: u32) -> Result<u64> {
        let context = self.current(thread)?;
        let known = EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING | EVENT_INTERPROCESS;
        let shared_with_timing = flags & EVENT_INTERPROCESS != 0 && flags & EVENT_DISABLE_TIMING == 0;
        if (flags & !known != 0 || shared_with_timing) && rules::EVENT_1.is_on() {
            return Err(rules::EVENT_1.refuse(&[("flags", &flags)], None));
        }
        let timing = flags & EVENT_DISABLE_TIMING == 0;
        let interprocess = flags & EVENT_INTERPROCESS != 0;
        Ok(self.new_event(context, timing, interprocess, Origin::Here(None)))
    }

    pub(super) fn new_event(&mut self, context: u64, timing: bool, interprocess: bool, origin: Origin) -> u64 {
        let event = self.new_opaque();
        let site = self.site;
        let state = EventState { context, timing, interprocess, origin, mark: None, passed_at: None, site };
        self.events.insert(event, state);
        event
    }

    /// `cuEventDestroy`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, EVENT-2.
    pub fn event_destroy(&mut self, outside: &mut Outside<'_>, thread: ThreadId, event: Event) -> Result<()> {
        self.current(thread)?;
        let origin = self.event(event)?.origin;
        self.events.remove(&event.as_raw());
        origin.close(outside)
    }

    /// `cuEventRecord`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, EVENT-2.
    pub fn event_record(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        event: Event,
        stream: Stream,
    ) -> Result<()> {
        let key = self.stream_key(thread, stream)?;
        let origin = self.event(event)?.origin;
        let shared = origin.shared().map(|shared| self.record_shared(outside, shared)).transpose()?;
        let mark = self.enqueue(key, Operation::Mark { event: event.as_raw(), shared });
        self.frees.mark(event.as_raw(), key);
        let state = self.event(event)?;
        state.mark = Some(mark);
        state.passed_at = None;
        Ok(())
    }

    /// `cuEventQuery`.
    ///
    /// # Errors
    /// FAULT-1, EVENT-2, EVENT-3.
    pub fn event_query(&mut self, outside: &mut Outside<'_>, event: Event) -> Result<()> {
        self.refuse_after_fault()?;
        let EventState { mark, origin, site, .. } = *self.event(event)?;
        let pending = match origin.shared() {
            Some(shared) => self.pending_mark(outside, shared)?.is_some(),
            None => mark.is_some_and(|mark| self.queue.is_pending(mark)),
        };
        if pending {
            self.note_poll();
            return Err(rules::EVENT_3.refuse(&[("event", &event)], Some(site)));
        }
        self.event_has_passed(event);
        Ok(())
    }

    /// What must have ended before `cuEventSynchronize` returns.
    ///
    /// # Errors
    /// FAULT-1, EVENT-2.
    pub fn event_synchronize(&mut self, outside: &mut Outside<'_>, event: Event) -> Result<Synchronize> {
        self.refuse_after_fault()?;
        let EventState { mark, origin, .. } = *self.event(event)?;
        match origin.shared() {
            Some(shared) => self.synchronize_shared(outside, shared),
            None => {
                let plan = mark.map_or_else(Plan::default, |work| self.plan(&Wait::Work(work)));
                Ok(Synchronize::Work(plan))
            }
        }
    }

    /// `cuEventElapsedTime`, in milliseconds.
    ///
    /// # Errors
    /// FAULT-1, EVENT-2, EVENT-3, EVENT-4.
    pub fn event_elapsed_time(&mut self, start: Event, end: Event) -> Result<f32> {
        self.refuse_after_fault()?;
        // Whether both have a mark comes first: only then does it matter whether the marks have passed.
        for event in [start, end] {
            let EventState { timing, mark, site, .. } = *self.event(event)?;
            if (!timing || mark.is_none()) && rules::EVENT_4.is_on() {
                return Err(rules::EVENT_4.refuse(&[("event", &event)], Some(site)));
            }
        }
        let mut passed = [0; 2];
        for (event, passed) in [start, end].into_iter().zip(&mut passed) {
            let EventState { mark, passed_at, site, .. } = *self.event(event)?;
            let is_pending = mark.is_some_and(|mark| self.queue.is_pending(mark));
            match passed_at {
                Some(at) if !is_pending => *passed = at,
                _ => return Err(rules::EVENT_3.refuse(&[("event", &event)], Some(site))),
            }
        }
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a time in single precision")]
        let milliseconds = (passed[1] as f64 - passed[0] as f64) as f32 / 1e6;
        Ok(milliseconds)
    }

    /// The work before a mark has ended.
    pub(super) fn mark_passed(&mut self, event: u64, mark: WorkId, now: u64) {
        if let Some(state) = self.events.get_mut(&event).filter(|state| state.mark == Some(mark)) {
            state.passed_at = Some(now);
        }
    }
}
