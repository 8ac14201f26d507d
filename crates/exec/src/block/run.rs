//! Running a block of threads.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use peermap_memory::View;

use super::access::{LaneFault, address, transfer};
use super::affine::compare;
use super::atomic::atomic;
use super::barrier::{Barriers, come_to_warp, look_at_warps};
use super::frame::Frame;
use super::mask::Mask;
use super::multimem::multimem;
use super::schedule::{Next, Schedule, Wait};
use super::system::call_system;
use super::timer::timer;
use super::warp::{look_at_steps, together};
use crate::check::{Moment, Watch};
use crate::error::Cause;
use crate::kernel::Program;
use crate::step::{BlockPlan, Condition, End, Flag, Location, Step};

/// So many basic blocks run before the clock is looked at.
const BLOCKS_BETWEEN_LOOKS: u32 = 256;

/// How long a group runs in loops that may wait for others before those others run: so many reads of memory, where one that
/// has an order counts for many.
const PATIENCE: u32 = 4096;
const ORDERED: u32 = 64;

/// Until when a launch may run, and which of its blocks need not run any more.
pub(crate) struct Limit {
    pub(crate) start: Instant,
    pub(crate) most: Duration,
    /// The first block that ended badly. Those before it still run, so that it is the same one each time.
    pub(crate) stopped: AtomicU64,
}

impl Limit {
    /// Whether a block need not run any more.
    pub(crate) fn is_past(&self, block: u64) -> bool {
        block > self.stopped.load(Ordering::Relaxed)
    }
}

/// How a block of threads ended before its time.
pub(crate) enum Ended {
    /// A thread did this at that instruction.
    Badly { instruction: u32, lane: usize, cause: Cause },
    /// A block before this one did.
    Elsewhere,
}

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All its threads have ended.
    Done,
    /// It may wait for what others write: they should run now.
    Rests,
    /// It has come round in a loop, and its neighbours should, so that what they do side by side is done at one time.
    ComesRound,
}

/// What all blocks of a launch share.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'l> {
    pub(crate) program: &'l Program,
    pub(crate) view: View<'l>,
    pub(crate) limit: &'l Limit,
    pub(crate) print: &'l (dyn Fn(&[u8]) + Sync),
    /// Looks for mistakes, if somebody asked for that.
    pub(crate) watch: Option<&'l Watch<'l>>,
}

/// A block of threads that has started.
pub(crate) struct Block<'l> {
    pub(crate) number: u64,
    pub(crate) frame: Frame,
    schedule: Schedule<'l>,
    barriers: Barriers,
    /// Reads in loops since a group last gave way.
    reads: u32,
    until_look: u32,
    /// What was read last that another may write.
    polled: Option<(u32, usize, u64)>,
}

impl<'l> Block<'l> {
    /// A block that has not run yet.
    pub(crate) fn new(number: u64, frame: Frame, program: &'l Program) -> Self {
        let schedule = Schedule::new(frame.all, &program.restored);
        let barriers = Barriers::default();
        Self { number, frame, schedule, barriers, reads: 0, until_look: BLOCKS_BETWEEN_LOOKS, polled: None }
    }

    /// Runs until all threads have ended, or until others should run.
    pub(crate) fn run(&mut self, setting: Setting<'l>, scratch: &mut Vec<u8>) -> Result<Progress, Ended> {
        'blocks: loop {
            let block = &setting.program.plan.blocks[self.schedule.running.block.index()];
            while let Some(step) = block.steps.get(self.schedule.running.step as usize) {
                self.carry_out(step, setting, scratch)?;
                if self.schedule.running.lanes.is_empty() {
                    match self.schedule.resume(&mut self.frame) {
                        Next::Runs => continue 'blocks,
                        next => return self.ended(next),
                    }
                }
                self.schedule.running.step += 1;
                if matches!(step, Step::Rest) {
                    if self.schedule.take_turns(&mut self.frame) {
                        self.reads = 0;
                        return Ok(Progress::Rests);
                    }
                    continue 'blocks;
                }
            }
            self.look(setting)?;
            let from = self.schedule.running.block;
            match self.leave(block)? {
                Next::Runs => {}
                next => return self.ended(next),
            }
            let back = self.schedule.running.block <= from;
            if back && self.reads >= PATIENCE {
                self.reads = 0;
                if self.schedule.take_turns(&mut self.frame) {
                    return Ok(Progress::Rests);
                }
            }
            if back && setting.program.is_light {
                return Ok(Progress::ComesRound);
            }
        }
    }

    /// What this block waited for when its time was up.
    pub(crate) fn out_of_time(&self, setting: Setting<'_>) -> Ended {
        let most = setting.limit.most;
        let running = self.schedule.running;
        let here = (setting.program.first_instruction(running.block.index()), running.lanes.lowest());
        let (instruction, lane) = self.polled.map_or(here, |(instruction, lane, _)| (instruction, lane));
        let polled = self.polled.map(|(_, _, address)| address);
        Ended::Badly { instruction, lane, cause: Cause::Deadline { most, polled } }
    }

    /// Sends lanes on from the end of a basic block.
    fn leave(&mut self, block: &BlockPlan) -> Result<Next, Ended> {
        let running = self.schedule.running.lanes;
        let alive = *self.schedule.alive();
        let next = match &block.end {
            End::Go(next) => self.schedule.go(*next, &mut self.frame),
            End::Part { condition, taken, other } => {
                let lanes = chosen(Some(*condition), &self.frame, &running);
                self.schedule.part((lanes, *taken), *other, block.meeting, &mut self.frame)
            }
            End::Trap { instruction, condition, other } => {
                let lanes = chosen(*condition, &self.frame, &running);
                if !lanes.is_empty() {
                    return Err(Ended::Badly { instruction: *instruction, lane: lanes.lowest(), cause: Cause::Trap });
                }
                self.schedule.go(*other, &mut self.frame)
            }
        };
        if *self.schedule.alive() == alive {
            return Ok(next);
        }
        // Who waited for those that have ended waits no more.
        self.barriers.look_again(&mut self.schedule);
        look_at_warps(&mut self.schedule);
        look_at_steps(&mut self.schedule);
        match next {
            Next::Stuck => Ok(self.schedule.resume(&mut self.frame)),
            next => Ok(next),
        }
    }

    fn ended(&self, next: Next) -> Result<Progress, Ended> {
        let Some((wait, lanes)) = self.schedule.waits().next().filter(|_| next == Next::Stuck) else {
            return Ok(Progress::Done);
        };
        let (instruction, what) = match wait {
            Wait::Barrier { number, instruction } => (instruction, self.barriers.explain(number)),
            Wait::Step { needs, instruction } | Wait::Warp { needs, instruction } => {
                let missing = needs.and(self.schedule.alive()).and_not(&lanes);
                let (thread, more) = (missing.lowest(), missing.count().saturating_sub(1));
                (instruction, format!("lane {thread} of the block and {more} more are waited for"))
            }
        };
        Err(Ended::Badly { instruction, lane: lanes.lowest(), cause: Cause::Stuck(what) })
    }

    fn look(&mut self, setting: Setting<'_>) -> Result<(), Ended> {
        self.until_look -= 1;
        if self.until_look > 0 {
            return Ok(());
        }
        self.until_look = BLOCKS_BETWEEN_LOOKS;
        if setting.limit.is_past(self.number) {
            return Err(Ended::Elsewhere);
        }
        if setting.limit.start.elapsed() > setting.limit.most {
            return Err(self.out_of_time(setting));
        }
        Ok(())
    }

    fn carry_out(&mut self, step: &Step, setting: Setting<'_>, scratch: &mut Vec<u8>) -> Result<(), Ended> {
        if let Some(watch) = setting.watch {
            self.watched(watch, step, setting.view)?;
        }
        let Self { frame, schedule, .. } = self;
        let lanes = schedule.running.lanes;
        let (instruction, done) = match step {
            Step::Compute(segment) => {
                setting.program.code.run(*segment, frame, &lanes);
                return Ok(());
            }
            Step::Compare(affine) => {
                compare(affine, frame, &lanes);
                return Ok(());
            }
            Step::Fence { .. } => {
                fence(Ordering::SeqCst);
                return Ok(());
            }
            Step::Timer(step) => {
                timer(step, frame, &chosen(step.condition, frame, &lanes));
                return Ok(());
            }
            Step::Rest => return Ok(()),
            Step::Transfer(step) => {
                let lanes = chosen(step.condition, frame, &lanes);
                let done = if lanes.is_empty() { Ok(()) } else { transfer(step, frame, &lanes, setting.view, scratch) };
                self.note_read(step.instruction, step.location, step.ordered, &lanes);
                (step.instruction, done)
            }
            Step::Atomic(step) => {
                let lanes = chosen(step.condition, frame, &lanes);
                let done = atomic(step, frame, &lanes, setting.view);
                self.note_read(step.instruction, step.location, step.yields(), &lanes);
                (step.instruction, done)
            }
            Step::Multimem(step) => {
                let lanes = chosen(step.condition, frame, &lanes);
                let done = multimem(step, frame, &lanes, setting.view);
                self.note_read(step.instruction, step.location, step.ordered && step.yields(), &lanes);
                (step.instruction, done)
            }
            Step::System(step) => (step.instruction, call_system(step, frame, &lanes, setting)),
            Step::Barrier(step) => (step.instruction, self.barriers.come(step, schedule, frame)),
            Step::WarpBarrier(step) => (step.instruction, come_to_warp(step, schedule, frame)),
            Step::Warp(step) => (step.instruction, together(step, schedule, frame)),
        };
        done.map_err(|LaneFault { lane, cause }| Ended::Badly { instruction, lane, cause })
    }

    #[cold]
    fn watched(&self, watch: &Watch<'_>, step: &Step, view: View<'_>) -> Result<(), Ended> {
        let moment = Moment { block: self.number, frame: &self.frame, lanes: &self.schedule.running.lanes, view };
        watch.before(step, &moment)
    }

    /// Counts a read of memory, and remembers one that has an order: a loop around it may wait for what others write.
    fn note_read(&mut self, instruction: u32, location: Location, ordered: bool, lanes: &Mask) {
        self.reads += if ordered { ORDERED } else { 1 };
        if ordered && !lanes.is_empty() {
            let lane = lanes.lowest();
            self.polled = Some((instruction, lane, address(location, &self.frame, lane)));
        }
    }
}

/// The lanes for which a condition holds.
pub(crate) fn chosen(condition: Option<Condition>, frame: &Frame, lanes: &Mask) -> Mask {
    match condition {
        None => *lanes,
        Some(Condition::Scalar { word, negated }) => match (frame.scalar(word) != 0) == negated {
            true => Mask::NONE,
            false => *lanes,
        },
        Some(Condition::Predicate { array, negated }) => {
            let set = Mask::of_bytes(frame.predicate(array));
            if negated { lanes.and_not(&set) } else { lanes.and(&set) }
        }
        Some(Condition::Mask { number, negated }) => {
            let set = &frame.masks[number as usize];
            if negated { lanes.and_not(set) } else { lanes.and(set) }
        }
    }
}

/// The lanes for which a predicate holds.
pub(crate) fn holds(flag: Flag, frame: &Frame, lanes: &Mask) -> Mask {
    match flag {
        Flag::Constant(true) => *lanes,
        Flag::Constant(false) => Mask::NONE,
        Flag::Condition(condition) => chosen(Some(condition), frame, lanes),
    }
}
