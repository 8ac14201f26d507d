//! Work that may still use memory when it goes.
//!
//! The driver takes mappings and rights away at once, whatever is queued. Work that has not run is in the queue. Work that ran although
//! nobody waited for it was lucky: on another day it runs later. It is remembered until a synchronisation sees it through, so
//! that whether a misuse is noticed does not hang on time.

use std::collections::{BTreeMap, BTreeSet};

use peermap_driver::{ByteSize, CallSite, DevicePtr, Event};

use super::Process;
use super::copy::Operation;
use super::pool::Ticket;
use super::queue::{Plan, StreamKey, WorkId, shared_mark};
use crate::rule::Rule;
use crate::rules;

/// How much is remembered: a program that never synchronises shall not get slower and slower.
const MOST_REMEMBERED: usize = 64;

/// Work that ran although nobody waited for it, as far as it used mapped memory.
#[derive(Debug, Default)]
pub(super) struct Lucky(BTreeMap<Ticket, (Operation, CallSite)>);

impl Lucky {
    /// A synchronisation has seen these through.
    pub(super) fn see(&mut self, seen: &BTreeSet<Ticket>) {
        self.0.retain(|ticket, _| !seen.contains(ticket));
    }
}

impl Process {
    /// The work of a plan runs now, and nobody waits for it.
    pub fn nobody_waits_for(&mut self, plan: &Plan) {
        for work in plan.left().collect::<Vec<_>>() {
            self.remember_lucky(work);
        }
    }

    fn remember_lucky(&mut self, work: WorkId) {
        let Some((operation, site)) = self.queue.operation(work).zip(self.queue.site(work)) else { return };
        if !operation.names(|ptr, _| self.mapping_at(ptr).is_some()) {
            return;
        }
        let behind = || self.queue.behind(work);
        // Another process may wait for a mark behind it, and say so by means that are not seen here.
        if behind().any(|(_, _, operation)| shared_mark(operation).is_some()) {
            return;
        }
        let streams: Vec<StreamKey> = behind().map(|(_, key, _)| key).collect();
        let events: Vec<u64> = behind().filter_map(|(mark, _, operation)| self.event_of(mark, operation)).collect();
        let remembered = (operation.clone(), site);
        let ticket = self.frees.add_behind(streams, events);
        self.lucky.0.insert(ticket, remembered);
        if self.lucky.0.len() > MOST_REMEMBERED
            && let Some((oldest, _)) = self.lucky.0.pop_first()
        {
            self.frees.forget(&BTreeSet::from([oldest]));
        }
    }

    /// The event whose last mark an item is.
    fn event_of(&self, mark: WorkId, operation: &Operation) -> Option<u64> {
        let Operation::Mark { event, .. } = operation else { return None };
        self.events.get(event).is_some_and(|state| state.mark == Some(mark)).then_some(*event)
    }

    /// A call waits for an item, and so for all that comes before it on its stream.
    pub(super) fn work_is_waited_for(&mut self, work: WorkId) {
        if let Some(key) = self.queue.key(work).filter(|_| !self.lucky.0.is_empty()) {
            self.stream_has_ended(key);
        }
    }

    /// Whoever asked has learned that all work of a stream has ended.
    pub(super) fn stream_has_ended(&mut self, key: StreamKey) {
        if !self.lucky.0.is_empty() {
            let seen = self.behind_stream(key);
            self.lucky.see(&seen);
        }
    }

    /// Whoever asked has learned that an event has passed.
    pub(super) fn event_has_passed(&mut self, event: Event) {
        if !self.lucky.0.is_empty() {
            let seen = self.frees.behind_event(event.as_raw());
            self.lucky.see(&seen);
        }
    }

    /// A call waits for all work of the process.
    pub(super) fn everything_is_seen(&mut self) {
        self.lucky.0.clear();
    }

    /// Whether any work may still use memory. A fault has ended all of it.
    pub(super) fn has_work_in_flight(&self) -> bool {
        self.fault.is_none() && (!self.queue.is_empty() || !self.lucky.0.is_empty())
    }

    /// Notes the first work that nobody has seen through when the process ends.
    pub(super) fn note_lost_work(&mut self) {
        let lucky = self.lucky.0.values().map(|(operation, site)| (operation, *site));
        let first = self.queue.operations().chain(lucky).find(|(operation, _)| operation.is_work());
        if let Some((_, user)) = first.filter(|_| self.fault.is_none()) {
            self.misuses.extend(rules::EXIT_1.misuse(
                &[],
                &format_args!("the end of process {}", self.id.0),
                Some(user),
            ));
        }
    }

    /// Notes work, of one device if one is given, that may still use a range that goes.
    pub(super) fn note_in_use(&mut self, rule: &'static Rule, start: u64, size: u64, device: Option<usize>) {
        if !self.has_work_in_flight() {
            return;
        }
        let end = start + size;
        let overlaps = |ptr: DevicePtr, size: ByteSize| ptr.get() < end && ptr.get().saturating_add(size.get()) > start;
        let uses =
            |operation: &Operation| (device.is_none() || operation.device() == device) && operation.names(overlaps);
        let lucky = self.lucky.0.values().map(|(operation, site)| (operation, *site));
        let user = self.queue.operations().chain(lucky).find(|(operation, _)| uses(operation)).map(|(_, site)| site);
        if device.is_none() {
            // Whatever is mapped there next is none of its business.
            self.lucky.0.retain(|_, (operation, _)| !operation.names(overlaps));
        }
        if let Some(user) = user {
            self.note_misuse(rule, &[("mapping", &DevicePtr::new(start)), ("size", &ByteSize::new(size))], Some(user));
        }
    }
}
