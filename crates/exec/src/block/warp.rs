//! What the lanes of a warp do with each other's values.

use std::array::from_fn;

use peermap_ptx::instruction::{Reduction, ShuffleMode, VoteMode};

use super::access::{LaneFault, value};
use super::barrier::named;
use super::frame::Frame;
use super::mask::Mask;
use super::run::{chosen, holds};
use super::schedule::{Schedule, Wait};
use crate::error::Cause;
use crate::step::{Operand, Target, WarpOperation, WarpStep};

/// Lanes of a warp.
const LANES: usize = 32;

/// Carries out a step for the running lanes. Those who miss lanes that they name wait for them, at this step: after that
/// the running group may have no lanes.
pub(crate) fn together(step: &WarpStep, schedule: &mut Schedule<'_>, frame: &mut Frame) -> Result<(), LaneFault> {
    let mut lanes = chosen(step.condition, frame, &schedule.running.lanes);
    if let Some(mask) = step.mask {
        let mut missing = named(mask, frame, &lanes)?.and(schedule.alive()).and_not(&lanes);
        if !missing.is_empty() {
            schedule.absorb(frame);
            lanes = chosen(step.condition, frame, &schedule.running.lanes);
            missing = named(mask, frame, &lanes)?.and(schedule.alive()).and_not(&lanes);
        }
        if !missing.is_empty() {
            let waiting = with_same_warp(&lanes, &missing);
            if missing.and_not(&schedule.held_here()).is_empty() {
                let what = "lanes of a warp that come to one instruction by different ways".to_owned();
                return Err(LaneFault { lane: waiting.lowest(), cause: Cause::NotModelled(what) });
            }
            schedule.hold(waiting, 0, Wait::Step { needs: missing, instruction: step.instruction }, frame);
            lanes = lanes.and_not(&waiting);
        }
    }
    for warp in 0..frame.lanes.div_ceil(LANES) {
        let active = lanes.warp(warp);
        if active != 0 {
            Warp { frame, first: warp * LANES, active }.carry_out(step);
        }
    }
    Ok(())
}

/// After lanes have ended: those who waited for them wait no more.
pub(crate) fn look_at_steps(schedule: &mut Schedule<'_>) {
    let alive = *schedule.alive();
    schedule.release(|wait| match wait {
        Wait::Step { needs, .. } if !needs.and_not(&alive).is_empty() => Some(None),
        _ => None,
    });
}

/// Those lanes that are in one warp with others.
fn with_same_warp(lanes: &Mask, others: &Mask) -> Mask {
    let mut same = Mask::NONE;
    for warp in 0..super::mask::MOST_LANES / LANES {
        if others.warp(warp) != 0 {
            same.insert(warp, lanes.warp(warp));
        }
    }
    same
}

/// Lanes of one warp that do something together.
struct Warp<'f> {
    frame: &'f mut Frame,
    /// The first lane of the warp in the block.
    first: usize,
    active: u32,
}

impl Warp<'_> {
    fn carry_out(&mut self, step: &WarpStep) {
        match &step.operation {
            WarpOperation::Shuffle { mode, value, lane, clamp, in_range } => {
                let (values, lanes, clamps) = (self.values(*value), self.values(*lane), self.values(*clamp));
                let sources: [_; LANES] = from_fn(|lane| source(*mode, lane as u32, lanes[lane], clamps[lane]));
                self.put(step.target, |lane| values[sources[lane].unwrap_or(lane as u32) as usize]);
                self.put(*in_range, |lane| u64::from(sources[lane].is_some()));
            }
            WarpOperation::Vote { mode, flag } => {
                let mut lanes = Mask::NONE;
                lanes.insert(self.first / LANES, self.active);
                let ballot = holds(*flag, self.frame, &lanes).warp(self.first / LANES);
                let outcome = match mode {
                    VoteMode::All => u64::from(ballot == self.active),
                    VoteMode::Any => u64::from(ballot != 0),
                    VoteMode::Uniform => u64::from(ballot == self.active || ballot == 0),
                    VoteMode::Ballot => u64::from(ballot),
                };
                self.put(step.target, |_| outcome);
            }
            WarpOperation::Match { bits, all, value, same } => {
                let values = self.values(*value).map(|value| value << (64 - bits) >> (64 - bits));
                let like = |lane: usize, other: &usize| values[*other] == values[lane];
                let masks: [_; LANES] = from_fn(|lane| {
                    self.lanes().filter(|other| like(lane, other)).fold(0_u32, |mask, other| mask | 1 << other)
                });
                let active = self.active;
                let whole = |lane: usize| masks[lane] == active;
                self.put(step.target, |lane| if *all && !whole(lane) { 0 } else { u64::from(masks[lane]) });
                self.put(*same, |lane| u64::from(whole(lane)));
            }
            WarpOperation::Reduce { reduction, value } => {
                let values = self.values(*value);
                let all = self.lanes().map(|lane| values[lane] as u32);
                let reduced = all.reduce(|a, b| combined(*reduction, a, b)).unwrap_or(0);
                self.put(step.target, |_| u64::from(reduced));
            }
            WarpOperation::ActiveMask => {
                let active = self.active;
                self.put(step.target, |_| u64::from(active));
            }
            WarpOperation::Elect { chosen } => {
                let leader = self.active.trailing_zeros() as usize;
                self.put(step.target, |_| leader as u64);
                self.put(Some(*chosen), |lane| u64::from(lane == leader));
            }
        }
    }

    fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..LANES).filter(move |lane| active >> lane & 1 == 1)
    }

    /// What all lanes of the warp hold, active or not.
    fn values(&self, operand: Operand) -> [u64; LANES] {
        from_fn(|lane| match self.first + lane < self.frame.lanes {
            true => value(operand, self.frame, self.first + lane),
            false => 0,
        })
    }

    fn put(&mut self, target: Option<Target>, value: impl Fn(usize) -> u64) {
        for lane in self.lanes() {
            let value = value(lane);
            match target {
                Some(Target::Lanes { array }) => self.frame.array_mut(array)[self.first + lane] = value,
                Some(Target::Predicates { array }) => self.frame.predicate_mut(array)[self.first + lane] = value as u8,
                Some(Target::Scalar { word }) => self.frame.set_scalar(word, value),
                None => {}
            }
        }
    }
}

/// The lane whose value `shfl` gives to a lane; `None` if it would be outside of its segment.
fn source(mode: ShuffleMode, lane: u32, by: u64, clamp: u64) -> Option<u32> {
    let (by, clamp, segment) = (by as u32 & 31, clamp as u32 & 31, (clamp >> 8) as u32 & 31);
    let limit = (lane & segment) | (clamp & !segment & 31);
    let (source, inside) = match mode {
        ShuffleMode::Up => (lane.wrapping_sub(by), lane.cast_signed() - by.cast_signed() >= limit.cast_signed()),
        ShuffleMode::Down => (lane + by, lane + by <= limit),
        ShuffleMode::Butterfly => (lane ^ by, lane ^ by <= limit),
        ShuffleMode::Index => {
            let source = (lane & segment) | (by & !segment & 31);
            (source, source <= limit)
        }
    };
    inside.then_some(source)
}

fn combined(reduction: Reduction, a: u32, b: u32) -> u32 {
    let float = |pick: fn(f32, f32) -> f32, abs: bool, nan: bool| {
        let bits = |value: u32| f32::from_bits(if abs { value & 0x7FFF_FFFF } else { value });
        let (a, b) = (bits(a), bits(b));
        if nan && (a.is_nan() || b.is_nan()) || a.is_nan() && b.is_nan() { 0x7FFF_FFFF } else { pick(a, b).to_bits() }
    };
    match reduction {
        Reduction::Add(_) => a.wrapping_add(b),
        Reduction::Min(ty) if ty.is_signed() => a.cast_signed().min(b.cast_signed()).cast_unsigned(),
        Reduction::Max(ty) if ty.is_signed() => a.cast_signed().max(b.cast_signed()).cast_unsigned(),
        Reduction::Min(_) => a.min(b),
        Reduction::Max(_) => a.max(b),
        Reduction::And => a & b,
        Reduction::Or => a | b,
        Reduction::Xor => a ^ b,
        Reduction::FloatMin { abs, nan } => float(least, abs, nan),
        Reduction::FloatMax { abs, nan } => float(most, abs, nan),
    }
}

/// The smaller one, where minus zero is smaller than plus zero, and what is no number counts for nothing.
fn least(a: f32, b: f32) -> f32 {
    if b.is_nan() || a.total_cmp(&b).is_le() && !a.is_nan() { a } else { b }
}

/// The larger one, likewise.
fn most(a: f32, b: f32) -> f32 {
    if b.is_nan() || a.total_cmp(&b).is_ge() && !a.is_nan() { a } else { b }
}
