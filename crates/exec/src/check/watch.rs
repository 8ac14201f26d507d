//! What is looked at before a step is carried out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use peermap_memory::View;

use crate::block::frame::{Frame, thread_of};
use crate::block::mask::Mask;
use crate::block::run::{Ended, chosen};
use crate::check::bounds::Bounds;
use crate::check::finding::{Finding, Party};
use crate::check::history::{History, Known, LaunchId, LaunchedCode};
use crate::check::store::{Spot, Touch};
use crate::check::written::{Event, Full, Run, Written};
use crate::check::{Check, Origins};
use crate::error::Cause;
use crate::grid::{Launch, block_of};
use crate::kernel::Program;
use crate::step::{BarrierAction, Step};
use crate::window::Window;

/// A launch that is watched.
pub(crate) struct Watch<'l> {
    program: &'l Program,
    launch: &'l Launch<'l>,
    bounds: Option<Bounds>,
    history: &'l History,
    /// The launch in the history.
    number: LaunchId,
    /// What was written to shared memory, by block.
    shared: Mutex<HashMap<u64, Written>>,
}

/// A step that is about to be carried out: which lanes of which block do so.
pub(crate) struct Moment<'m> {
    pub(crate) block: u64,
    pub(crate) frame: &'m Frame,
    pub(crate) lanes: &'m Mask,
    pub(crate) view: View<'m>,
}

/// What is wrong, and in which lane.
type Found = (usize, Finding);

impl<'l> Watch<'l> {
    /// `None` if the launch has no checks.
    pub(crate) fn new(
        program: &'l Program,
        launch: &'l Launch<'l>,
        origins: Option<&Origins>,
        history: &'l History,
    ) -> Option<Self> {
        if launch.checks.is_empty() {
            return None;
        }
        let bounds = origins.map(|origins| Bounds::of(origins, launch));
        let (grid, block, lines) = (launch.grid, launch.block, program.lines.clone());
        let number = history.known().begin(Some(LaunchedCode { kernel: program.name.clone(), grid, block, lines }));
        Some(Self { program, launch, bounds, history, number, shared: Mutex::default() })
    }

    fn shared(&self) -> MutexGuard<'_, HashMap<u64, Written>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at a step. What would fault is left to the step itself.
    pub(crate) fn before(&self, step: &Step, moment: &Moment<'_>) -> Result<(), Ended> {
        let Moment { block, frame, lanes, .. } = *moment;
        let id = (self.number, block);
        let known = || self.history.known();
        let waits = |condition| known().order.wait(id, &chosen(condition, frame, lanes));
        match step {
            Step::Transfer(step) => return self.touch_copies(&Touch::of_transfer(step, frame, lanes), moment),
            Step::Atomic(step) => return self.touch(&Touch::of_atomic(step, frame, lanes), moment),
            Step::Multimem(step) => return self.touch_copies(&Touch::of_multimem(step, frame, lanes), moment),
            Step::Fence { alias: true } => known().order.fence_aliases(id),
            Step::Fence { alias: false } => known().order.order(id),
            Step::Barrier(step) if matches!(step.action, BarrierAction::Arrive) => known().order.arrive(id),
            Step::Barrier(step) => waits(step.condition),
            Step::WarpBarrier(step) => waits(step.condition),
            Step::Warp(step) => waits(step.condition),
            Step::Compute(_) | Step::Compare(_) | Step::Timer(_) | Step::Rest | Step::System(_) => {}
        }
        Ok(())
    }

    /// A block has ended, and its shared memory with it.
    pub(crate) fn ended(&self, block: u64) {
        self.shared().remove(&block);
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
        let (mut known, mut shared) = (self.history.known(), self.shared());
        let block = (self.number, moment.block);
        known.order.go_on(block, &touch.lanes);
        if touch.strong {
            known.order.order(block);
        }
        let (time, instruction) = (known.order.tick(), touch.instruction);
        let event = Event { launch: self.number, block: moment.block, instruction, time, strong: touch.strong };
        let mut access =
            Looked { watch: self, touch, moment, known: &mut known, shared: &mut shared, event, run: None };
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

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.history.known().end(self.number);
    }
}

/// An access while its lanes are looked at.
struct Looked<'w> {
    watch: &'w Watch<'w>,
    touch: &'w Touch<'w>,
    moment: &'w Moment<'w>,
    known: &'w mut Known,
    shared: &'w mut HashMap<u64, Written>,
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
        let Self { watch, touch, moment, event, .. } = *self;
        let (address, place) = match spot {
            Spot::Device { address, place } => (address, place),
            Spot::Shared(_) | Spot::BehindConstants(_) => return self.outside(spot),
            Spot::Own => return None,
        };
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
        let Known { device, order, launches, .. } = &mut *self.known;
        device.touching(place, touch.bytes).find_map(|(at, _, run)| {
            let (here, written, writer) = (address + (at - place.1), run.address(at), &run.event);
            let stale = written != here
                && launches.began_before_end_of(event.launch, writer.launch)
                && !order.has_fenced_aliases(writer.block_id(), writer.time, event.block_id());
            let writer = || launches.writer(writer, run.lane(at), event.launch);
            stale.then(|| Finding::Alias { address: here, access: touch.access, written, writer: writer() })
        })
    }

    /// What is wrong with an access to memory of the block or to constants that the hardware lets pass.
    fn outside(&self, spot: Spot) -> Option<Finding> {
        let Self { watch, touch, moment, .. } = *self;
        let spaces = &moment.frame.spaces;
        let (address, window, there) = match spot {
            Spot::Shared(address) => (address, Some(Window::Shared), spaces.asked_for(Window::Shared)),
            Spot::BehindConstants(address) => (address, None, 0..spaces.constants()),
            Spot::Device { .. } | Spot::Own => return None,
        };
        let is_inside = there.start <= address && address + touch.bytes <= there.end;
        let asked = watch.has(Check::Bounds) && !is_inside;
        asked.then_some(Finding::OutOfSpace { address, access: touch.access, window, there })
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
            Spot::BehindConstants(_) | Spot::Own => return Ok(None),
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
        match memory {
            Memory::Arena(arena) => self.known.device.note(arena, run)?,
            Memory::Shared => self.shared.entry(self.event.block).or_default().note(0, run)?,
        }
        Ok(None)
    }

    /// The first byte of a run that another thread wrote, with nothing to order the two.
    fn race(&mut self, memory: Memory, run: &Run) -> Option<Found> {
        let Self { watch, touch, moment, event, .. } = *self;
        let Known { device, order, .. } = &mut *self.known;
        let (written, space) = match memory {
            Memory::Arena(arena) => (&*device, arena),
            Memory::Shared => (&*self.shared.entry(event.block).or_default(), 0),
        };
        written.touching((space, run.start), run.end - run.start).find_map(|(from, len, other)| {
            // Streams, events and the host order launches; none of that is known here.
            if run.event.strong || other.event.strong || other.event.launch != event.launch {
                return None;
            }
            if order.may_know(other.event.block_id(), other.event.time, event.block_id()) {
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
