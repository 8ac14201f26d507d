//! Running a block of threads.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use peermap_memory::View;

use crate::block::access::{LaneFault, transfer};
use crate::block::affine::compare;
use crate::block::atomic::atomic;
use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::block::stack::Stack;
use crate::block::timer::timer;
use crate::error::Cause;
use crate::kernel::Program;
use crate::step::{Condition, End, Step};

/// So many basic blocks run before the clock is looked at.
const BLOCKS_BETWEEN_LOOKS: u32 = 256;

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

/// Runs all threads of a block.
pub(crate) fn run(
    program: &Program,
    number: u64,
    frame: &mut Frame,
    view: View<'_>,
    limit: &Limit,
    scratch: &mut Vec<u8>,
) -> Result<(), Ended> {
    let mut stack = Stack::new(frame.lanes);
    let restored = &program.restored;
    let mut until_look = BLOCKS_BETWEEN_LOOKS;
    loop {
        let group = stack.running;
        let block = &program.plan.blocks[group.block.index()];
        until_look -= 1;
        if until_look == 0 {
            until_look = BLOCKS_BETWEEN_LOOKS;
            if limit.is_past(number) {
                return Err(Ended::Elsewhere);
            }
            look(program, group.block.index(), group.lanes, limit)?;
        }
        for step in &block.steps {
            carry_out(program, step, frame, &stack, view, scratch)?;
        }
        let goes_on = match &block.end {
            End::Go(next) => stack.go(*next, restored, frame),
            End::Part { condition, taken, other } => {
                let lanes = chosen(*condition, frame, &group.lanes);
                stack.part((lanes, *taken), *other, block.meeting, restored, frame)
            }
            End::Trap { instruction, condition, other } => {
                let lanes = condition.map_or(group.lanes, |condition| chosen(condition, frame, &group.lanes));
                if !lanes.is_empty() {
                    return Err(Ended::Badly { instruction: *instruction, lane: lanes.lowest(), cause: Cause::Trap });
                }
                stack.go(*other, restored, frame)
            }
        };
        if !goes_on {
            return Ok(());
        }
    }
}

fn look(program: &Program, block: usize, lanes: Mask, limit: &Limit) -> Result<(), Ended> {
    if limit.start.elapsed() > limit.most {
        let (instruction, lane) = (program.first_instruction(block), lanes.lowest());
        return Err(Ended::Badly { instruction, lane, cause: Cause::Deadline(limit.most) });
    }
    Ok(())
}

fn carry_out(
    program: &Program,
    step: &Step,
    frame: &mut Frame,
    stack: &Stack,
    view: View<'_>,
    scratch: &mut Vec<u8>,
) -> Result<(), Ended> {
    let lanes = &stack.running.lanes;
    let guarded = |condition: Option<Condition>, frame: &Frame| {
        condition.map_or(*lanes, |condition| chosen(condition, frame, lanes))
    };
    let (instruction, done) = match step {
        Step::Compute(segment) => {
            program.code.run(*segment, frame, lanes);
            return Ok(());
        }
        Step::Compare(affine) => {
            compare(affine, frame);
            return Ok(());
        }
        Step::Fence => {
            fence(Ordering::SeqCst);
            return Ok(());
        }
        Step::Timer(step) => {
            timer(step, frame, &guarded(step.condition, frame));
            return Ok(());
        }
        Step::Transfer(step) => {
            let lanes = guarded(step.condition, frame);
            let done = if lanes.is_empty() { Ok(()) } else { transfer(step, frame, &lanes, view, scratch) };
            (step.instruction, done)
        }
        Step::Atomic(step) => (step.instruction, atomic(step, frame, &guarded(step.condition, frame), view)),
        Step::Barrier { instruction } => {
            let apart = || Cause::NotModelled("a barrier that the threads of a block reach apart".to_owned());
            let done = if stack.is_whole() { Ok(()) } else { Err(LaneFault { lane: lanes.lowest(), cause: apart() }) };
            (*instruction, done)
        }
    };
    done.map_err(|LaneFault { lane, cause }| Ended::Badly { instruction, lane, cause })
}

fn chosen(condition: Condition, frame: &Frame, lanes: &Mask) -> Mask {
    match condition {
        Condition::Scalar { word, negated } => match (frame.scalar(word) != 0) == negated {
            true => Mask::NONE,
            false => *lanes,
        },
        Condition::Predicate { array, negated } => {
            let set = Mask::of_bytes(frame.predicate(array));
            if negated { lanes.and_not(&set) } else { lanes.and(&set) }
        }
    }
}
