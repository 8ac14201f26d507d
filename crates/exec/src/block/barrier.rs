//! The barriers of a block.

use super::access::{LaneFault, value};
use super::frame::Frame;
use super::mask::Mask;
use super::run::{chosen, holds};
use super::schedule::{Schedule, Wait};
use crate::error::Cause;
use crate::step::{BarrierAction, BarrierStep, Operand, Target, WarpBarrierStep};

/// As many barriers as a block has.
const BARRIERS: usize = 16;

/// Who has come to a barrier since it last let threads go.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    threads: u32,
    /// Threads for which what was asked holds.
    holding: u32,
    /// How many threads it waits for; all that have not ended if that is not said.
    wanted: Option<u32>,
}

impl Barrier {
    fn is_complete(&self, alive: u32) -> bool {
        self.threads > 0 && self.threads >= self.wanted.unwrap_or(alive)
    }
}

/// The barriers of a block, by number.
#[derive(Default)]
pub(crate) struct Barriers([Barrier; BARRIERS]);

impl Barriers {
    /// The running lanes come to a barrier: after that the running group may have no lanes.
    pub(crate) fn come(
        &mut self,
        step: &BarrierStep,
        schedule: &mut Schedule<'_>,
        frame: &mut Frame,
    ) -> Result<(), LaneFault> {
        let mut lanes = chosen(step.condition, frame, &schedule.running.lanes);
        while !lanes.is_empty() {
            let (number, here) = alike(step.barrier, frame, &lanes);
            lanes = lanes.and_not(&here);
            self.come_to(number, here, step, schedule, frame)?;
        }
        Ok(())
    }

    fn come_to(
        &mut self,
        number: u64,
        lanes: Mask,
        step: &BarrierStep,
        schedule: &mut Schedule<'_>,
        frame: &mut Frame,
    ) -> Result<(), LaneFault> {
        let lane = lanes.lowest();
        let refused = |what: String| Err(LaneFault { lane, cause: Cause::NotModelled(what) });
        let Some(barrier) = usize::try_from(number).ok().and_then(|number| self.0.get_mut(number)) else {
            return refused(format!("barrier {number}, of which a block has {BARRIERS},"));
        };
        let wanted = step.threads.map(|threads| value(threads, frame, lane) as u32);
        if let Some(wanted) = wanted.filter(|wanted| *wanted == 0 || !wanted.is_multiple_of(32)) {
            return refused(format!("a barrier of {wanted} threads, which is no multiple of 32,"));
        }
        if barrier.threads > 0 && barrier.wanted != wanted {
            let (one, other) = (barrier.wanted.unwrap_or_default(), wanted.unwrap_or_default());
            return refused(format!("barrier {number} for {one} threads and at the same time for {other}"));
        }
        let (asks, target) = match &step.action {
            BarrierAction::Wait | BarrierAction::Arrive => (None, None),
            BarrierAction::Count { flag, target }
            | BarrierAction::All { flag, target }
            | BarrierAction::Any { flag, target } => (Some(*flag), Some(*target)),
        };
        barrier.wanted = wanted;
        barrier.threads += lanes.count();
        barrier.holding += asks.map_or(0, |flag| holds(flag, frame, &lanes).count());
        let complete = barrier.is_complete(schedule.alive().count());
        if complete && barrier.threads == lanes.count() && !matches!(step.action, BarrierAction::Arrive) {
            // All came together.
            let outcome = outcome(&step.action, &std::mem::take(barrier));
            if let (Some(target), Some(value)) = (target, outcome) {
                frame.set(target, &lanes, value);
            }
            return Ok(());
        }
        if !matches!(step.action, BarrierAction::Arrive) {
            let wait = Wait::Barrier { number: number as u32, instruction: step.instruction };
            schedule.hold(lanes, 1, wait, frame);
        }
        if complete {
            let outcome = target.zip(outcome(&step.action, &std::mem::take(barrier)));
            let_go(number as u32, outcome, schedule);
        }
        Ok(())
    }

    /// After lanes have ended: those who waited for them wait no more.
    pub(crate) fn look_again(&mut self, schedule: &mut Schedule<'_>) {
        let alive = schedule.alive().count();
        for number in 0..BARRIERS {
            // Threads that ask something of a barrier at which others end is not something that a program may do.
            if self.0[number].threads > 0 && self.0[number].wanted.is_none() && self.0[number].is_complete(alive) {
                self.0[number] = Barrier::default();
                let_go(number as u32, None, schedule);
            }
        }
    }

    /// What lanes at a barrier wait for.
    pub(crate) fn explain(&self, number: u32) -> String {
        let Barrier { threads, wanted, .. } = self.0[number as usize];
        let wanted = wanted.map_or("all".to_owned(), |wanted| wanted.to_string());
        format!("barrier {number} waits for {wanted} threads, {threads} came")
    }
}

fn let_go(number: u32, outcome: Option<(Target, u64)>, schedule: &mut Schedule<'_>) {
    schedule.release(|wait| match wait {
        Wait::Barrier { number: at, .. } if at == number => Some(outcome),
        _ => None,
    });
}

fn outcome(action: &BarrierAction, barrier: &Barrier) -> Option<u64> {
    match action {
        BarrierAction::Wait | BarrierAction::Arrive => None,
        BarrierAction::Count { .. } => Some(u64::from(barrier.holding)),
        BarrierAction::All { .. } => Some(u64::from(barrier.holding == barrier.threads)),
        BarrierAction::Any { .. } => Some(u64::from(barrier.holding > 0)),
    }
}

/// The value of the first lane, and the lanes that have the same.
fn alike(operand: Operand, frame: &Frame, lanes: &Mask) -> (u64, Mask) {
    let first = value(operand, frame, lanes.lowest());
    let same = match operand {
        Operand::Constant(_) | Operand::Scalar { stride: 0, .. } => *lanes,
        Operand::Scalar { .. } | Operand::Lanes { .. } => lanes.filter(|lane| value(operand, frame, lane) == first),
    };
    (first, same)
}

/// The running lanes come to a barrier of their warps: after that the running group may have no lanes.
pub(crate) fn come_to_warp(
    step: &WarpBarrierStep,
    schedule: &mut Schedule<'_>,
    frame: &mut Frame,
) -> Result<(), LaneFault> {
    let lanes = chosen(step.condition, frame, &schedule.running.lanes);
    let needs = named(step.mask, frame, &lanes)?.and(schedule.alive());
    let wait = Wait::Warp { needs, instruction: step.instruction };
    if needs.and_not(&lanes).is_empty() {
        return Ok(());
    }
    schedule.hold(lanes, 1, wait, frame);
    look_at_warps(schedule);
    Ok(())
}

/// Lets those go on whose warp barrier all have reached.
pub(crate) fn look_at_warps(schedule: &mut Schedule<'_>) {
    let at_warp = schedule.waits().filter(|(wait, _)| matches!(wait, Wait::Warp { .. }));
    let came = at_warp.fold(Mask::NONE, |all, (_, lanes)| all.or(&lanes));
    let alive = *schedule.alive();
    schedule.release(|wait| match wait {
        Wait::Warp { needs, .. } if needs.and(&alive).and_not(&came).is_empty() => Some(None),
        _ => None,
    });
}

/// The lanes that the masks of some lanes name.
///
/// # Errors
/// A mask that does not name the lane which has it: what happens then is not defined.
pub(crate) fn named(mask: Operand, frame: &Frame, lanes: &Mask) -> Result<Mask, LaneFault> {
    let mut all = Mask::NONE;
    for lane in lanes.lanes() {
        let mask = value(mask, frame, lane) as u32;
        if mask >> (lane % 32) & 1 == 0 {
            let what = format!("a mask of {mask:#x}, which does not name lane {} that has it,", lane % 32);
            return Err(LaneFault { lane, cause: Cause::NotModelled(what) });
        }
        all.insert(lane / 32, mask);
    }
    Ok(all)
}
