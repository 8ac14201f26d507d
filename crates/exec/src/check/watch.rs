//! What is looked at before a step is carried out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use peermap_memory::View;

use crate::block::frame::{Frame, thread_of};
use crate::block::mask::Mask;
use crate::block::run::{Ended, chosen};
use crate::check::bounds::Bounds;
use crate::check::finding::{Finding, Party};
use crate::check::order::Order;
use crate::check::store::{Spot, Touch};
use crate::check::written::{Event, Full, Run, Written};
use crate::check::{Check, Origins};
use crate::error::Cause;
use crate::grid::{Launch, block_of};
use crate::kernel::Program;
use crate::step::{BarrierAction, Step};

/// A launch that is watched.
pub(crate) struct Watch<'l> {
    program: &'l Program,
    launch: &'l Launch<'l>,
    bounds: Option<Bounds>,
    state: Mutex<State>,
}

/// A step that is about to be carried out: which lanes of which block do so.
pub(crate) struct Moment<'m> {
    pub(crate) block: u64,
    pub(crate) frame: &'m Frame,
    pub(crate) lanes: &'m Mask,
    pub(crate) view: View<'m>,
}

#[derive(Default)]
struct State {
    order: Order,
    device: Written,
    /// By block.
    shared: HashMap<u64, Written>,
}

/// What is wrong, and in which lane.
type Found = (usize, Finding);

impl<'l> Watch<'l> {
    /// `None` if the launch has no checks.
    pub(crate) fn new(program: &'l Program, launch: &'l Launch<'l>, origins: Option<&Origins>) -> Option<Self> {
        let bounds = origins.map(|origins| Bounds::of(origins, launch));
        (!launch.checks.is_empty()).then(|| Self { program, launch, bounds, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at a step. What would fault is left to the step itself.
    pub(crate) fn before(&self, step: &Step, moment: &Moment<'_>) -> Result<(), Ended> {
        let Moment { block, frame, lanes, .. } = *moment;
        let waits = |condition| self.state().order.wait(block, &chosen(condition, frame, lanes));
        match step {
            Step::Transfer(step) => return self.touch_copies(&Touch::of_transfer(step, frame, lanes), moment),
            Step::Atomic(step) => return self.touch(&Touch::of_atomic(step, frame, lanes), moment),
            Step::Multimem(step) => return self.touch_copies(&Touch::of_multimem(step, frame, lanes), moment),
            Step::Fence { alias: true } => self.state().order.fence_aliases(block),
            Step::Fence { alias: false } => self.state().order.order(block),
            Step::Barrier(step) if matches!(step.action, BarrierAction::Arrive) => self.state().order.arrive(block),
            Step::Barrier(step) => waits(step.condition),
            Step::WarpBarrier(step) => waits(step.condition),
            Step::Warp(step) => waits(step.condition),
            Step::Compute(_) | Step::Compare(_) | Step::Timer(_) | Step::Rest | Step::System(_) => {}
        }
        Ok(())
    }

    /// A block has ended, and its shared memory with it.
    pub(crate) fn ended(&self, block: u64) {
        self.state().shared.remove(&block);
    }

    /// Looks at an access to each memory behind the addresses: of one, or of all that a multicast address stands for.
    fn touch_copies(&self, touch: &Touch<'_>, moment: &Moment<'_>) -> Result<(), Ended> {
        let Some(first) = touch.first_address(moment.frame) else { return Ok(()) };
        let mut copies = moment.view.copies(first).peekable();
        if copies.peek().is_none() {
            return self.touch(touch, moment);
        }
        copies.try_for_each(|view| self.touch(touch, &Moment { view, ..*moment }))
    }

    fn touch(&self, touch: &Touch<'_>, moment: &Moment<'_>) -> Result<(), Ended> {
        if touch.lanes.is_empty() {
            return Ok(());
        }
        let mut state = self.state();
        state.order.go_on(moment.block, &touch.lanes);
        if touch.strong {
            state.order.order(moment.block);
        }
        let time = state.order.tick();
        let event = Event { block: moment.block, instruction: touch.instruction, time, strong: touch.strong };
        let mut access = Looked { watch: self, touch, moment, state: &mut state, event, run: None };
        for lane in touch.lanes.lanes() {
            let Some(spot) = touch.spot(moment.frame, moment.view, lane) else { return Ok(()) };
            let found = access.look(spot).map_or_else(|| access.note(lane, spot), |found| Ok(Some((lane, found))));
            access.outcome(found)?;
        }
        let found = access.flush();
        access.outcome(found)
    }

    fn party(&self, event: &Event, lane: usize) -> Party {
        Party {
            block: block_of(event.block, self.launch.grid),
            thread: thread_of(lane, self.launch.block),
            line: self.program.line(event.instruction),
        }
    }

    fn has(&self, check: Check) -> bool {
        self.launch.checks.has(check)
    }
}

/// An access while its lanes are looked at.
struct Looked<'w> {
    watch: &'w Watch<'w>,
    touch: &'w Touch<'w>,
    moment: &'w Moment<'w>,
    state: &'w mut State,
    event: Event,
    /// What lanes write side by side, and in which memory.
    run: Option<(Memory, Run)>,
}

/// Which memory bytes are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Arena(u8),
    Shared,
}

impl Looked<'_> {
    /// What is wrong with a lane's access, whatever else was written.
    fn look(&mut self, spot: Spot) -> Option<Finding> {
        let Spot::Device { address, place } = spot else { return None };
        let Self { watch, touch, moment, event, .. } = *self;
        let bounds = watch.bounds.as_ref();
        let found =
            bounds.and_then(|it| it.check(touch.instruction, (address, touch.bytes), touch.access, watch.launch));
        let unwritten = || {
            let asked = touch.reads() && watch.has(Check::Uninitialised);
            let address = asked.then(|| moment.view.first_unwritten(address, touch.bytes))??;
            Some(Finding::Uninitialised { address, access: touch.access })
        };
        let found = found.or_else(unwritten);
        if found.is_some() || !touch.reads() || !watch.has(Check::Aliases) {
            return found;
        }
        let State { device, order, .. } = &mut *self.state;
        device.touching(place, touch.bytes).find_map(|(at, _, run)| {
            let (here, written) = (address + (at - place.1), run.address(at));
            let stale = written != here && !order.has_fenced_aliases(run.event.block, run.event.time, event.block);
            let writer = || watch.party(&run.event, run.lane(at));
            stale.then(|| Finding::Alias { address: here, access: touch.access, written, writer: writer() })
        })
    }

    /// Notes what a lane writes.
    fn note(&mut self, lane: usize, spot: Spot) -> Result<Option<Found>, Full> {
        let asked = self.watch.has(Check::Races) || self.watch.has(Check::Aliases);
        if !asked || !self.touch.writes() {
            return Ok(None);
        }
        let (memory, start, address) = match spot {
            Spot::Device { address, place: (arena, offset) } => (Memory::Arena(arena), offset, address),
            Spot::Shared(inside) => (Memory::Shared, inside, inside),
            Spot::Own => return Ok(None),
        };
        let each = self.touch.bytes;
        if let Some((before, run)) = &mut self.run
            && (*before, run.end) == (memory, start)
            && run.address(run.end) == address
            && run.lane(run.end) == lane
        {
            run.end += each;
            return Ok(None);
        }
        let run = Run { event: self.event, start, end: start + each, first_lane: lane, each, address };
        let done = self.flush();
        self.run = Some((memory, run));
        done
    }

    /// Keeps what lanes have written side by side, unless it races.
    fn flush(&mut self) -> Result<Option<Found>, Full> {
        let Some((memory, run)) = self.run.take() else { return Ok(None) };
        let found = if self.watch.has(Check::Races) { self.race(memory, &run) } else { None };
        if found.is_some() {
            return Ok(found);
        }
        let State { device, shared, .. } = &mut *self.state;
        match memory {
            Memory::Arena(arena) => device.note(arena, run)?,
            Memory::Shared => shared.entry(self.event.block).or_default().note(0, run)?,
        }
        Ok(None)
    }

    /// The first byte of a run that another thread wrote, with nothing to order the two.
    fn race(&mut self, memory: Memory, run: &Run) -> Option<Found> {
        let Self { watch, touch, moment, event, .. } = *self;
        let State { device, shared, order } = &mut *self.state;
        let (written, space) = match memory {
            Memory::Arena(arena) => (&*device, arena),
            Memory::Shared => (&*shared.entry(event.block).or_default(), 0),
        };
        written.touching((space, run.start), run.end - run.start).find_map(|(from, len, other)| {
            if run.event.strong || other.event.strong {
                return None;
            }
            if order.may_know(other.event.block, other.event.time, event.block) {
                return None;
            }
            let stored = |it: &Run, at| {
                let lane = it.lane(at);
                touch.stored(moment.frame, lane, (at - it.start) % it.each)
            };
            // The lanes of a warp that store the same in one instruction leave no doubt what is there.
            let agree = |at| {
                let one_store = other.event.time == event.time && other.lane(at) / 32 == run.lane(at) / 32;
                one_store && stored(other, at) == stored(run, at)
            };
            let same = |at| other.event.block == event.block && other.lane(at) == run.lane(at);
            let at = (from..from + len).find(|at| !same(*at) && !agree(*at))?;
            let party = watch.party(&other.event, other.lane(at));
            let shared = memory == Memory::Shared;
            Some((run.lane(at), Finding::Race { address: run.address(at), shared, other: party }))
        })
    }

    fn outcome(&self, found: Result<Option<Found>, Full>) -> Result<(), Ended> {
        let (lane, cause) = match found {
            Ok(None) => return Ok(()),
            Ok(Some((lane, finding))) => (lane, Cause::Finding(Box::new(finding))),
            Err(Full) => (self.touch.lanes.lowest(), Cause::NotModelled(Full::WHAT.to_owned())),
        };
        Err(Ended::Badly { instruction: self.touch.instruction, lane, cause })
    }
}
