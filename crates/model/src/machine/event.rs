//! Events that processes share.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::{Answer, ProcessId, SharedEventId, SharedMark};

struct SharedEvent {
    maker: ProcessId,
    /// As long as the process that made it lives, the handle opens even if everybody has destroyed the event.
    maker_lives: bool,
    handle: Vec<u8>,
    holders: BTreeSet<ProcessId>,
    marks: u64,
    last_recorder: Option<ProcessId>,
    /// Marks whose work has not ended, and who has to run it.
    pending: BTreeMap<u64, ProcessId>,
}

impl SharedEvent {
    fn is_kept(&self) -> bool {
        self.maker_lives || !self.holders.is_empty()
    }
}

/// The shared events of a machine. An event goes when its maker is gone and the last process that holds it closes it.
#[derive(Default)]
pub(super) struct SharedEvents {
    events: BTreeMap<SharedEventId, SharedEvent>,
    made: u64,
}

impl SharedEvents {
    pub(super) const fn made(&self) -> u64 {
        self.made
    }

    pub(super) fn share(&mut self, process: ProcessId, handle: Vec<u8>) -> Answer {
        let event = SharedEventId(self.made);
        self.made += 1;
        let shared = SharedEvent {
            maker: process,
            maker_lives: true,
            handle: handle.clone(),
            holders: BTreeSet::from([process]),
            marks: 0,
            last_recorder: None,
            pending: BTreeMap::new(),
        };
        self.events.insert(event, shared);
        Answer::SharedEvent { event, handle }
    }

    pub(super) fn share_again(&self, event: SharedEventId) -> Answer {
        match self.events.get(&event) {
            Some(shared) => Answer::SharedEvent { event, handle: shared.handle.clone() },
            None => Answer::Gone,
        }
    }

    pub(super) fn open(&mut self, process: ProcessId, handle: &[u8]) -> Answer {
        match self.events.iter_mut().find(|(_, shared)| shared.handle == handle) {
            Some((_, shared)) if shared.maker == process => Answer::OwnHandle,
            Some((event, shared)) => {
                shared.holders.insert(process);
                Answer::SharedEvent { event: *event, handle: handle.to_vec() }
            }
            None => Answer::Gone,
        }
    }

    pub(super) fn close(&mut self, process: ProcessId, event: SharedEventId) -> Answer {
        if let Some(shared) = self.events.get_mut(&event) {
            shared.holders.remove(&process);
            if !shared.is_kept() {
                self.events.remove(&event);
            }
        }
        Answer::Done
    }

    pub(super) fn record(&mut self, process: ProcessId, event: SharedEventId) -> Answer {
        let Some(shared) = self.events.get_mut(&event) else { return Answer::Mark(None) };
        shared.marks += 1;
        shared.last_recorder = Some(process);
        shared.pending.insert(shared.marks, process);
        self.mark(event, None)
    }

    pub(super) fn pass(&mut self, event: SharedEventId, number: u64) -> Answer {
        if let Some(shared) = self.events.get_mut(&event) {
            shared.pending.remove(&number);
        }
        Answer::Done
    }

    pub(super) fn mark(&self, event: SharedEventId, number: Option<u64>) -> Answer {
        let Some(shared) = self.events.get(&event) else { return Answer::Mark(None) };
        let number = number.unwrap_or(shared.marks);
        let pending = shared.pending.get(&number).copied();
        Answer::Mark(pending.or(shared.last_recorder).map(|recorder| SharedMark {
            recorder,
            number,
            passed: pending.is_none(),
        }))
    }

    /// A process has gone: what it had queued will never run, so nobody waits for it any longer.
    pub(super) fn disconnect(&mut self, process: ProcessId) {
        for shared in self.events.values_mut() {
            shared.holders.remove(&process);
            shared.maker_lives &= shared.maker != process;
            shared.pending.retain(|_, recorder| *recorder != process);
        }
        self.events.retain(|_, shared| shared.is_kept());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAKER: ProcessId = ProcessId(0);
    const OTHER: ProcessId = ProcessId(1);

    fn shared() -> (SharedEvents, SharedEventId) {
        let mut events = SharedEvents::default();
        let answer = events.share(MAKER, vec![7]);
        assert_eq!(answer, Answer::SharedEvent { event: SharedEventId(0), handle: vec![7] });
        (events, SharedEventId(0))
    }

    fn mark(recorder: ProcessId, number: u64, passed: bool) -> Answer {
        Answer::Mark(Some(SharedMark { recorder, number, passed }))
    }

    #[test]
    fn a_mark_stands_until_its_recorder_has_passed_it() {
        let (mut events, event) = shared();
        assert_eq!(events.mark(event, None), Answer::Mark(None));
        assert_eq!(events.record(OTHER, event), mark(OTHER, 1, false));
        assert_eq!(events.record(MAKER, event), mark(MAKER, 2, false));
        events.pass(event, 2);
        assert_eq!(events.mark(event, None), mark(MAKER, 2, true));
        assert_eq!(events.mark(event, Some(1)), mark(OTHER, 1, false));
    }

    #[test]
    fn an_event_outlives_its_maker_while_somebody_holds_it() {
        let (mut events, event) = shared();
        assert_eq!(events.open(MAKER, &[7]), Answer::OwnHandle);
        events.open(OTHER, &[7]);
        events.disconnect(MAKER);
        assert_eq!(events.open(ProcessId(2), &[7]), Answer::SharedEvent { event, handle: vec![7] });
        events.close(OTHER, event);
        events.close(ProcessId(2), event);
        assert_eq!(events.open(OTHER, &[7]), Answer::Gone);
    }

    #[test]
    fn a_handle_opens_while_its_maker_lives_even_if_nobody_holds_the_event() {
        let (mut events, event) = shared();
        events.close(MAKER, event);
        assert_eq!(events.open(OTHER, &[7]), Answer::SharedEvent { event, handle: vec![7] });
    }

    #[test]
    fn nobody_waits_for_a_process_that_is_gone() {
        let (mut events, event) = shared();
        events.open(OTHER, &[7]);
        events.record(OTHER, event);
        events.disconnect(OTHER);
        assert_eq!(events.mark(event, None), mark(OTHER, 1, true));
    }
}
