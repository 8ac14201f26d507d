//! Events that processes share: `cuIpcGetEventHandle`, `cuIpcOpenEventHandle`, and what differs for such events.
//!
//! The machine numbers the marks of a shared event and knows which have not passed, and whose they are. A wait for a mark
//! of this process is a wait for its own work; a wait for a mark of another process is a [`SharedWait`], which whoever runs
//! the work sees through: it has the other process run what comes before the mark.

use peermap_driver::{Event, IpcEventHandle, Result};
use serde::{Deserialize, Serialize};

use super::copy::Operation;
use super::physical::{name_of, unexpected};
use super::queue::{Plan, StreamKey, Wait};
use super::stream::EventState;
use super::{Outside, Process, ThreadId};
use crate::rules;
use crate::wire::{Answer, Ask, ProcessId, SharedEventId, SharedMark};

/// Where an event comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// It was made here, and has this number in the machine once a handle was asked for.
    Here(Option<SharedEventId>),
    /// It was opened by a handle of another process.
    Opened(SharedEventId),
}

impl Origin {
    pub(super) const fn shared(self) -> Option<SharedEventId> {
        match self {
            Self::Here(shared) => shared,
            Self::Opened(shared) => Some(shared),
        }
    }

    /// Tells the machine that this process holds the event no longer.
    pub(super) fn close(self, outside: &mut Outside<'_>) -> Result<()> {
        match self.shared() {
            Some(event) => outside.machine.ask(Ask::CloseEvent { event }).map(|_| ()),
            None => Ok(()),
        }
    }
}

/// A mark of a shared event that has not passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SharedWait {
    /// Which event.
    pub event: SharedEventId,
    /// Which of its marks.
    pub number: u64,
    /// The process whose work comes before it.
    pub recorder: ProcessId,
}

/// What must have ended before `cuEventSynchronize` returns.
#[derive(Debug)]
pub enum Synchronize {
    /// Work of this process.
    Work(Plan),
    /// Work of another process.
    Shared(SharedWait),
}

/// Tells the machine that a mark has passed, if it is one of a shared event.
pub(super) fn tell_passed(outside: &mut Outside<'_>, shared: Option<SharedWait>) -> Result<()> {
    match shared {
        Some(SharedWait { event, number, .. }) => outside.machine.ask(Ask::PassEvent { event, number }).map(|_| ()),
        None => Ok(()),
    }
}

impl Process {
    /// `cuIpcGetEventHandle`.
    ///
    /// # Errors
    /// FAULT-1, EVENT-2, EVENT-5.
    pub fn ipc_get_event_handle(&mut self, outside: &mut Outside<'_>, event: Event) -> Result<IpcEventHandle> {
        self.refuse_after_fault()?;
        let EventState { interprocess, origin, mark, site, .. } = *self.event(event)?;
        let Origin::Here(shared) = origin else {
            return Err(rules::EVENT_5.refuse(&[("event", &event)], Some(site)));
        };
        if !interprocess && rules::EVENT_5.is_on() {
            return Err(rules::EVENT_5.refuse(&[("event", &event)], Some(site)));
        }
        let (shared, handle) = match outside.machine.ask(Ask::ShareEvent { event: shared })? {
            Answer::SharedEvent { event, handle } => (event, handle),
            other => return Err(unexpected(&other)),
        };
        if origin.shared().is_none() {
            self.event(event)?.origin = Origin::Here(Some(shared));
            // A mark that is queued already becomes one that others can see.
            if let Some(mark) = mark.filter(|mark| self.queue.is_pending(*mark)) {
                let with = self.record_shared(outside, shared)?;
                self.queue.share_mark(mark, with);
            }
        }
        name_of(handle).map(IpcEventHandle)
    }

    /// `cuIpcOpenEventHandle`: the raw value of the event.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, EVENT-6, EVENT-7.
    pub fn ipc_open_event_handle(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        handle: &IpcEventHandle,
    ) -> Result<u64> {
        let context = self.current(thread)?;
        match outside.machine.ask(Ask::OpenEvent { handle: handle.0.to_vec() })? {
            Answer::SharedEvent { event, .. } => Ok(self.new_event(context, false, true, Origin::Opened(event))),
            Answer::OwnHandle => Err(rules::EVENT_6.refuse(&[], None)),
            Answer::Gone => Err(rules::EVENT_7.refuse(&[], None)),
            other => Err(unexpected(&other)),
        }
    }

    /// Records a shared event: the mark that is to be queued.
    pub(super) fn record_shared(&self, outside: &mut Outside<'_>, event: SharedEventId) -> Result<SharedWait> {
        match outside.machine.ask(Ask::RecordEvent { event })? {
            Answer::Mark(Some(mark)) => Ok(SharedWait { event, number: mark.number, recorder: self.id }),
            other => Err(unexpected(&other)),
        }
    }

    /// The last mark of a shared event, if it has not passed.
    pub(super) fn pending_mark(&self, outside: &mut Outside<'_>, event: SharedEventId) -> Result<Option<SharedWait>> {
        match outside.machine.ask(Ask::MarkState { event, number: None })? {
            Answer::Mark(mark) => Ok(pending(event, mark)),
            other => Err(unexpected(&other)),
        }
    }

    /// Lets later work of a stream wait for the last mark of a shared event.
    pub(super) fn wait_for_shared(
        &mut self,
        outside: &mut Outside<'_>,
        key: StreamKey,
        event: SharedEventId,
    ) -> Result<()> {
        let Some(mark) = self.pending_mark(outside, event)? else { return Ok(()) };
        match self.queue.mark(&mark) {
            Some(work) => self.enqueue_after(key, work),
            None => {
                self.enqueue(key, Operation::Await(mark));
            }
        }
        Ok(())
    }

    /// What must have ended for the last mark of a shared event to have passed.
    pub(super) fn synchronize_shared(
        &mut self,
        outside: &mut Outside<'_>,
        event: SharedEventId,
    ) -> Result<Synchronize> {
        let Some(mark) = self.pending_mark(outside, event)? else { return Ok(Synchronize::Work(Plan::default())) };
        Ok(match self.queue.mark(&mark) {
            Some(work) => Synchronize::Work(self.plan(&Wait::Work(work))),
            None => Synchronize::Shared(mark),
        })
    }

    /// What this process has to run because another waits for a mark of it.
    #[must_use]
    pub fn plan_for_mark(&mut self, mark: &SharedWait) -> Plan {
        self.queue.mark(mark).map_or_else(Plan::default, |work| self.plan(&Wait::Work(work)))
    }
}

/// How a mark that is waited for stands now.
fn pending(event: SharedEventId, mark: Option<SharedMark>) -> Option<SharedWait> {
    mark.filter(|mark| !mark.passed).map(|mark| SharedWait { event, number: mark.number, recorder: mark.recorder })
}

impl SharedWait {
    /// Asks the machine whether the mark has passed.
    ///
    /// # Errors
    /// If the machine cannot be reached.
    pub fn has_passed(&self, outside: &mut Outside<'_>) -> Result<bool> {
        match outside.machine.ask(Ask::MarkState { event: self.event, number: Some(self.number) })? {
            Answer::Mark(mark) => Ok(pending(self.event, mark).is_none()),
            other => Err(unexpected(&other)),
        }
    }
}
