//! Frees in the order of streams, and which synchronisation sees which of them through; and the same for work that ran although
//! nobody waited for it.
//!
//! Only a synchronisation that covers a free lets its memory go, however long ago the work before it ended: one of the
//! stream, of an event recorded behind it, of a stream that waits for such an event, or of the context. And none lets go
//! what work that is still queued may use: another thread may have queued it while the synchronisation waited.

use std::collections::{BTreeSet, HashMap};

use super::super::queue::{StreamKey, WorkId};

/// A free in the order of a stream that no synchronisation has seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in super::super) struct Ticket(pub(super) u64);

/// Which frees lie behind what.
#[derive(Debug, Default)]
pub(in super::super) struct Frees {
    next: u64,
    streams: HashMap<StreamKey, BTreeSet<Ticket>>,
    events: HashMap<u64, BTreeSet<Ticket>>,
    /// Where there was work ahead of a free: the item that ends when that work has.
    ahead: HashMap<Ticket, WorkId>,
}

impl Frees {
    /// A free in the order of a stream, behind an item of its work if there is some.
    pub(super) fn add(&mut self, key: StreamKey, ahead: Option<WorkId>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.streams.entry(key).or_default().insert(ticket);
        self.ahead.extend(ahead.map(|work| (ticket, work)));
        ticket
    }

    /// Work that runs although nobody waits for it: what these streams do from now on comes after it, and what comes after these
    /// events too.
    pub(in super::super) fn add_behind(
        &mut self,
        streams: impl IntoIterator<Item = StreamKey>,
        events: impl IntoIterator<Item = u64>,
    ) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        for key in streams {
            self.streams.entry(key).or_default().insert(ticket);
        }
        for event in events {
            self.events.entry(event).or_default().insert(ticket);
        }
        ticket
    }

    /// The item of work that a free comes behind.
    pub(super) fn work_ahead(&self, ticket: Ticket) -> Option<WorkId> {
        self.ahead.get(&ticket).copied()
    }

    /// Whether what a stream does from now on comes after a free.
    pub(super) fn is_behind(&self, key: StreamKey, ticket: Ticket) -> bool {
        self.streams.get(&key).is_some_and(|behind| behind.contains(&ticket))
    }

    /// Whether any free waits to be seen.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// What a stream does from now on comes after what others have done.
    pub(in super::super) fn follow(&mut self, key: StreamKey, others: impl IntoIterator<Item = StreamKey>) {
        for other in others {
            let behind = self.streams.get(&other).cloned().unwrap_or_default();
            if !behind.is_empty() {
                self.streams.entry(key).or_default().extend(behind);
            }
        }
    }

    /// An event marks where a stream is now.
    pub(in super::super) fn mark(&mut self, event: u64, key: StreamKey) {
        match self.streams.get(&key) {
            Some(behind) => self.events.insert(event, behind.clone()),
            None => self.events.remove(&event),
        };
    }

    /// What a stream does from now on comes after an event.
    pub(in super::super) fn follow_event(&mut self, key: StreamKey, event: u64) {
        if let Some(behind) = self.events.get(&event).cloned() {
            self.streams.entry(key).or_default().extend(behind);
        }
    }

    /// The frees that streams have behind them.
    pub(super) fn behind_streams(&self, is_meant: impl Fn(StreamKey) -> bool) -> BTreeSet<Ticket> {
        self.streams.iter().filter(|(key, _)| is_meant(**key)).flat_map(|(_, behind)| behind).copied().collect()
    }

    /// The frees that an event has behind it.
    pub(in super::super) fn behind_event(&self, event: u64) -> BTreeSet<Ticket> {
        self.events.get(&event).cloned().unwrap_or_default()
    }

    /// These have been seen through.
    pub(in super::super) fn forget(&mut self, seen: &BTreeSet<Ticket>) {
        let keep = |behind: &mut BTreeSet<Ticket>| {
            behind.retain(|ticket| !seen.contains(ticket));
            !behind.is_empty()
        };
        self.streams.retain(|_, behind| keep(behind));
        self.events.retain(|_, behind| keep(behind));
        self.ahead.retain(|ticket, _| !seen.contains(ticket));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: StreamKey = StreamKey { context: 1, stream: 1 };
    const T: StreamKey = StreamKey { context: 1, stream: 2 };

    #[test]
    fn a_stream_sees_what_it_waits_for_and_an_event_what_came_before_it() {
        let mut frees = Frees::default();
        let first = frees.add(S, None);
        frees.mark(9, S);
        let second = frees.add(S, None);
        assert_eq!(frees.behind_event(9), BTreeSet::from([first]));
        assert_eq!(frees.behind_streams(|key| key == T), BTreeSet::new());
        frees.follow_event(T, 9);
        assert_eq!(frees.behind_streams(|key| key == T), BTreeSet::from([first]));
        assert_eq!(frees.behind_streams(|key| key == S), BTreeSet::from([first, second]));
    }

    #[test]
    fn what_was_seen_is_forgotten_everywhere() {
        let mut frees = Frees::default();
        let ticket = frees.add(S, None);
        frees.mark(9, S);
        frees.follow(T, [S]);
        frees.forget(&BTreeSet::from([ticket]));
        assert!(frees.is_empty());
        assert_eq!(frees.behind_event(9), BTreeSet::new());
    }
}
