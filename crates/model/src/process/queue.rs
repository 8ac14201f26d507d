//! Queued work: what must come before what, and what a wait waits for.
//!
//! An item knows the items that must end before it may begin; these always have smaller numbers. Work runs as late as
//! the rules allow: when something waits for it, or when nobody has for the length of the grace.

use std::collections::{BTreeMap, BTreeSet};

use peermap_driver::{Argument, CallSite, CuResult, DevicePtr, Value};

use super::copy::Operation;
use super::shared_event::{SharedWait, tell_passed};
use super::{FaultState, Grace, Outside, Process};
use crate::chooser::Chooser;
use crate::numbers::NumberMap;
use crate::rules;

/// An item of queued work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WorkId(u64);

/// A stream of a context; 0 is the context's null stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct StreamKey {
    pub(super) context: u64,
    pub(super) stream: u64,
}

/// What a wait waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// One item.
    Work(WorkId),
    /// All work of a context.
    Context(u64),
    /// All work of the process.
    Everything,
}

/// The items that a wait has to see through, in an order in which they may run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    items: Vec<WorkId>,
    done: usize,
    /// Whether what is next is to run as one piece, once that was looked at.
    piece: Option<bool>,
}

impl Plan {
    /// The items that have not ended, as far as that is known.
    pub(super) fn left(&self) -> impl Iterator<Item = WorkId> {
        self.items[self.done..].iter().copied()
    }
}

/// An item to be run now.
#[derive(Clone, Debug)]
pub struct Work {
    /// Which.
    pub id: WorkId,
    /// What is to be done.
    pub operation: Operation,
    /// Whether nothing of another process may come between this and what follows: see [`Process::take_turn`].
    pub in_piece: bool,
}

/// What came of the next step of a plan.
#[derive(Debug)]
pub(super) enum Step {
    Run(WorkId, Operation),
    OthersRun,
    Done,
}

/// How an item ended.
pub type Outcome = Result<u64, WorkFault>;

/// A device fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkFault {
    /// What the next synchronisation answers.
    pub result: CuResult,
    /// The first byte of device memory that could not be reached, where that is what happened.
    pub address: Option<DevicePtr>,
    /// In words, what was tried there.
    pub what: String,
}

#[derive(Debug)]
struct Item {
    key: StreamKey,
    after: Vec<WorkId>,
    operation: Operation,
    running: bool,
    /// Whether its stream waits for the null stream and the null stream for it.
    blocking: bool,
    site: CallSite,
}

/// The queued work of a process.
#[derive(Debug, Default)]
pub(super) struct Queue {
    next: u64,
    items: BTreeMap<WorkId, Item>,
    tails: NumberMap<StreamKey, WorkId>,
    /// How many queries have found work that had not ended, since the last item ended.
    polls: u64,
}

/// How many such queries are as good as the grace, where that is time: who asks so often waits.
const PATIENT_POLLS: u64 = 100;

/// The mark of a shared event that an operation is.
pub(super) const fn shared_mark(operation: &Operation) -> Option<SharedWait> {
    match operation {
        Operation::Mark { shared, .. } => *shared,
        _ => None,
    }
}

impl Queue {
    pub(super) fn is_pending(&self, work: WorkId) -> bool {
        self.items.contains_key(&work)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The queued operations with the calls that queued them.
    pub(super) fn operations(&self) -> impl Iterator<Item = (&Operation, CallSite)> {
        self.items.values().map(|item| (&item.operation, item.site))
    }

    /// The call that queued an item.
    pub(super) fn site(&self, work: WorkId) -> Option<CallSite> {
        self.items.get(&work).map(|item| item.site)
    }

    /// The stream of an item.
    pub(super) fn key(&self, work: WorkId) -> Option<StreamKey> {
        self.items.get(&work).map(|item| item.key)
    }

    /// An item and all that come after it, with their streams and operations.
    pub(super) fn behind(&self, work: WorkId) -> impl Iterator<Item = (WorkId, StreamKey, &Operation)> {
        let mut behind = BTreeSet::from([work]);
        self.items.range(work..).filter_map(move |(later, item)| {
            let comes_after = *later == work || item.after.iter().any(|before| behind.contains(before));
            comes_after.then(|| {
                behind.insert(*later);
                (*later, item.key, &item.operation)
            })
        })
    }

    pub(super) fn operation(&self, work: WorkId) -> Option<&Operation> {
        self.items.get(&work).map(|item| &item.operation)
    }

    pub(super) fn tail(&self, key: StreamKey) -> Option<WorkId> {
        self.tails.get(&key).copied().filter(|work| self.is_pending(*work))
    }

    /// The last items of a context's blocking streams, those that were destroyed meanwhile included.
    fn blocking_tails(&self, context: u64) -> impl Iterator<Item = WorkId> {
        let tails = self.tails.iter().filter(move |(key, _)| key.context == context).map(|(_, work)| *work);
        tails.filter(|work| self.items.get(work).is_some_and(|item| item.blocking))
    }

    fn push(&mut self, item: Item) -> WorkId {
        let id = WorkId(self.next);
        self.next += 1;
        self.tails.insert(item.key, id);
        self.items.insert(id, item);
        id
    }

    /// Forgets what has not begun; gives the marks of shared events in it. What runs goes on, and waits see it through:
    /// it may use memory of its caller.
    fn abandon(&mut self) -> Vec<SharedWait> {
        let (running, forgotten): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.items).into_iter().partition(|(_, item)| item.running);
        self.items = running;
        let Self { items, tails, .. } = self;
        tails.retain(|_, work| items.contains_key(work));
        forgotten.into_values().filter_map(|item| shared_mark(&item.operation)).collect()
    }

    /// The item that is a mark of a shared event.
    pub(super) fn mark(&self, wanted: &SharedWait) -> Option<WorkId> {
        let is_it = |item: &Item| shared_mark(&item.operation) == Some(*wanted);
        self.items.iter().find(|(_, item)| is_it(item)).map(|(work, _)| *work)
    }

    /// Makes a mark that is queued one of a shared event.
    pub(super) fn share_mark(&mut self, work: WorkId, with: SharedWait) {
        if let Some(Operation::Mark { shared, .. }) = self.items.get_mut(&work).map(|item| &mut item.operation) {
            *shared = Some(with);
        }
    }

    /// The items that must end for `targets` to have ended, in a legal order.
    fn plan(&self, targets: impl IntoIterator<Item = WorkId>, chooser: &mut Chooser) -> Plan {
        let mut wanted = BTreeSet::new();
        let mut open: Vec<WorkId> = targets.into_iter().collect();
        while let Some(work) = open.pop() {
            if let Some(item) = self.items.get(&work)
                && wanted.insert(work)
            {
                open.extend(&item.after);
            }
        }
        let items = if chooser.recycles() { self.shuffled(wanted, chooser) } else { wanted.into_iter().collect() };
        Plan { items, done: 0, piece: None }
    }

    /// Any order in which nothing comes before what it must come after.
    fn shuffled(&self, mut left: BTreeSet<WorkId>, chooser: &mut Chooser) -> Vec<WorkId> {
        let mut order = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let blocked = |work: &&WorkId| self.items[*work].after.iter().any(|before| left.contains(before));
            let ready: Vec<WorkId> = left.iter().filter(|work| !blocked(work)).copied().collect();
            let next = ready[chooser.pick(ready.len())];
            left.remove(&next);
            order.push(next);
        }
        order
    }

    fn step(&mut self, plan: &mut Plan) -> Step {
        while plan.items.get(plan.done).is_some_and(|work| !self.items.contains_key(work)) {
            plan.done += 1;
        }
        let mut others_run = false;
        for work in &plan.items[plan.done..] {
            let Some(item) = self.items.get(work) else { continue };
            if self.is_ready(item) {
                let item = self.items.get_mut(work).expect("it was just seen");
                item.running = true;
                return Step::Run(*work, item.operation.clone());
            }
            others_run = true;
        }
        if others_run { Step::OthersRun } else { Step::Done }
    }

    fn is_ready(&self, item: &Item) -> bool {
        !item.running && item.after.iter().all(|before| !self.items.contains_key(before))
    }
}

impl Process {
    /// Queues an operation on a stream, in order with the null stream where the stream is a blocking one.
    pub(super) fn enqueue(&mut self, key: StreamKey, operation: Operation) -> WorkId {
        let blocking = self.is_blocking(key);
        let after = self.comes_after(key);
        self.order_frees(key, blocking);
        self.queue.push(Item { key, after, operation, running: false, blocking, site: self.site })
    }

    fn is_blocking(&self, key: StreamKey) -> bool {
        self.streams.get(&key.stream).is_some_and(|stream| stream.blocking)
    }

    /// The items that what is queued on a stream next comes after.
    fn comes_after(&self, key: StreamKey) -> Vec<WorkId> {
        let mut after: Vec<WorkId> = self.queue.tail(key).into_iter().collect();
        if key.stream == 0 {
            after.extend(self.queue.blocking_tails(key.context));
        } else if self.is_blocking(key) {
            after.extend(self.queue.tail(StreamKey { context: key.context, stream: 0 }));
        }
        after
    }

    /// An item that ends when all work ahead of it on a stream has. `None` if there is none.
    pub(super) fn enqueue_behind_work(&mut self, key: StreamKey) -> Option<WorkId> {
        (!self.comes_after(key).is_empty()).then(|| self.enqueue(key, Operation::Join))
    }

    /// What must have ended for a stream to have nothing ahead.
    pub(super) fn plan_stream(&mut self, key: StreamKey) -> Plan {
        if self.queue.items.is_empty() {
            return Plan::default();
        }
        let ahead = self.comes_after(key);
        self.queue.plan(ahead, &mut self.chooser)
    }

    /// Queues a wait of a stream for an item of another.
    pub(super) fn enqueue_after(&mut self, key: StreamKey, before: WorkId) {
        let work = self.enqueue(key, Operation::Join);
        let item = self.queue.items.get_mut(&work).expect("it was just queued");
        item.after.push(before);
    }

    /// What a wait has to see through.
    #[must_use]
    pub fn plan(&mut self, wait: &Wait) -> Plan {
        let queue = &self.queue;
        if queue.items.is_empty() {
            return Plan::default();
        }
        let targets: Vec<WorkId> = match wait {
            Wait::Work(work) => vec![*work],
            Wait::Context(context) => {
                queue.items.iter().filter(|(_, item)| item.key.context == *context).map(|(work, _)| *work).collect()
            }
            Wait::Everything => queue.items.keys().copied().collect(),
        };
        queue.plan(targets, &mut self.chooser)
    }

    /// Whether an item of work could begin.
    #[must_use]
    pub fn has_ready_work(&self) -> bool {
        self.queue.items.values().any(|item| self.queue.is_ready(item))
    }

    /// A query has found work that has not ended.
    pub(super) const fn note_poll(&mut self) {
        self.queue.polls += 1;
    }

    /// The work that nobody has waited for during the grace, as far as that is counted in calls.
    #[must_use]
    pub fn overdue(&mut self) -> Option<Plan> {
        let plan = self.overdue_plan()?;
        self.nobody_waits_for(&plan);
        Some(plan)
    }

    fn overdue_plan(&mut self) -> Option<Plan> {
        let calls = match self.options.grace {
            Grace::Calls(calls) => calls,
            Grace::Wall(_) if self.queue.polls >= PATIENT_POLLS => return Some(self.plan(&Wait::Everything)),
            Grace::Wall(_) | Grace::Never => return None,
        };
        let oldest = self.queue.items.values().next()?;
        let is_due = |item: &Item| item.site.number.saturating_add(calls) < self.site.number;
        if !is_due(oldest) {
            return None;
        }
        let due: Vec<WorkId> =
            self.queue.items.iter().filter(|(_, item)| is_due(item)).map(|(work, _)| *work).collect();
        Some(self.queue.plan(due, &mut self.chooser))
    }

    /// Whether any work is queued.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.queue.items.is_empty()
    }

    /// The next item of a plan to run. `Ok(None)` if all have ended; `Err(())` if others run what is left.
    ///
    /// # Errors
    /// See above: the caller waits until something has ended and asks again.
    #[expect(clippy::result_unit_err, reason = "there is nothing to say but: not now")]
    pub fn next_work(&mut self, plan: &mut Plan) -> Result<Option<Work>, ()> {
        match self.queue.step(plan) {
            Step::Run(id, operation @ Operation::Await(_)) => {
                plan.piece = None;
                Ok(Some(Work { id, operation, in_piece: false }))
            }
            Step::Run(id, operation) => {
                let in_piece = plan.piece.unwrap_or_else(|| self.is_piece(plan));
                plan.piece = Some(in_piece);
                Ok(Some(Work { id, operation, in_piece }))
            }
            Step::Done => Ok(None),
            Step::OthersRun => Err(()),
        }
    }

    /// An item has ended, at a time in nanoseconds or with a fault. After a fault nothing that is queued runs any more.
    ///
    /// # Errors
    /// If the machine cannot be told that a shared event has passed.
    pub fn finish_work(
        &mut self,
        outside: &mut Outside<'_>,
        work: WorkId,
        outcome: Outcome,
    ) -> peermap_driver::Result<()> {
        let Some(item) = self.queue.items.remove(&work) else { return Ok(()) };
        self.queue.polls = 0;
        if self.queue.tails.get(&item.key) == Some(&work) {
            self.queue.tails.remove(&item.key);
        }
        match outcome {
            Ok(now) => {
                if let Operation::Mark { event, shared } = item.operation {
                    self.mark_passed(event, work, now);
                    tell_passed(outside, shared)?;
                }
                Ok(())
            }
            Err(fault) => self.fail(outside, &fault, item.key.context, item.site),
        }
    }

    fn fail(
        &mut self,
        outside: &mut Outside<'_>,
        fault: &WorkFault,
        context: u64,
        site: CallSite,
    ) -> peermap_driver::Result<()> {
        self.abandon_work(outside)?;
        if self.fault.is_some() || !rules::FAULT_1.is_on() {
            return Ok(());
        }
        let what = fault.what.as_str();
        let mut facts: Vec<(&'static str, &dyn Argument)> = vec![("what", &what)];
        if let Some(address) = &fault.address {
            facts.insert(0, ("address", address));
        }
        let history = fault.address.and_then(|address| self.history_of(address));
        let mut explanation = rules::FAULT_1.explain(&facts, history);
        if let Some(address) = fault.address.filter(|address| !address.is_null())
            && fault.result == CuResult::ILLEGAL_ADDRESS
        {
            explanation.facts.extend(self.surroundings(address, self.ordinal_of_context(context)));
        }
        explanation.facts.push(("work", Value::Text(site.to_string())));
        self.fault = Some(FaultState { result: fault.result, explanation });
        Ok(())
    }

    /// Nothing that is queued runs any more. Other processes that wait for a mark in it must not wait for ever.
    ///
    /// # Errors
    /// If the machine cannot be told.
    pub fn abandon_work(&mut self, outside: &mut Outside<'_>) -> peermap_driver::Result<()> {
        self.queue.abandon().into_iter().try_for_each(|mark| tell_passed(outside, Some(mark)))
    }

    /// The code of the fault that killed the contexts of this process, if one did.
    ///
    /// # Errors
    /// FAULT-1.
    pub fn check_fault(&self) -> peermap_driver::Result<()> {
        self.refuse_after_fault()
    }
}
