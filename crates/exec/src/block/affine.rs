//! Comparisons of values that grow from lane to lane.

use peermap_ptx::ScalarType;
use peermap_ptx::instruction::Comparison;

use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::step::{AffineCompare, Operand};

/// A number for each lane: the first, and how much more the next has. It is a number and not a pattern of bits: the
/// values do not wrap around in the lanes of a block.
#[derive(Clone, Copy)]
struct Line {
    first: i128,
    stride: i128,
}

/// Carries out a comparison for the lanes that run.
pub(crate) fn compare(step: &AffineCompare, frame: &mut Frame, running: &Mask) {
    let outcome = outcome(step, frame);
    if step.as_mask {
        let before = &mut frame.masks[step.array as usize];
        *before = before.and_not(running).or(&outcome.and(running));
        return;
    }
    let holding = outcome.and(running);
    for run in running.runs() {
        frame.predicate_mut(step.array)[run].fill(0);
    }
    for run in holding.runs() {
        frame.predicate_mut(step.array)[run].fill(1);
    }
}

/// The lanes for which a comparison holds, whether they run or not.
fn outcome(step: &AffineCompare, frame: &Frame) -> Mask {
    let lanes = frame.lanes;
    let (a, b) = (line(step.a, step.ty, frame), line(step.b, step.ty, frame));
    if let (Some(a), Some(b)) = (a, b)
        && !matches!(step.comparison, Comparison::Equal | Comparison::NotEqual)
    {
        let difference = Line { first: a.first - b.first, stride: a.stride - b.stride };
        let from_first = holds(step.comparison, difference.first);
        let changes = first_change(step.comparison, difference, from_first, lanes);
        // To copy a mask that was just written word by word takes as long as all stores before it.
        return match (changes == lanes, from_first) {
            (true, true) => frame.all,
            (true, false) => Mask::NONE,
            (false, true) => Mask::first(changes),
            (false, false) => frame.all.and_not(&Mask::first(changes)),
        };
    }
    frame.all.filter(|lane| {
        let number = |operand| interpreted(raw(operand, frame, lane), step.ty);
        holds(step.comparison, number(step.a) - number(step.b))
    })
}

/// The first lane with another outcome than the first lane has; the difference grows or shrinks all the way.
fn first_change(comparison: Comparison, difference: Line, from_first: bool, lanes: usize) -> usize {
    let outcome = |lane: usize| holds(comparison, difference.first + difference.stride * lane as i128);
    if lanes == 0 || outcome(lanes - 1) == from_first {
        return lanes;
    }
    let (mut same, mut changed) = (0, lanes - 1);
    while changed - same > 1 {
        let middle = same.midpoint(changed);
        if outcome(middle) == from_first {
            same = middle;
        } else {
            changed = middle;
        }
    }
    changed
}

fn holds(comparison: Comparison, difference: i128) -> bool {
    match comparison {
        Comparison::Equal => difference == 0,
        Comparison::NotEqual => difference != 0,
        Comparison::Less => difference < 0,
        Comparison::LessEqual => difference <= 0,
        Comparison::Greater => difference > 0,
        _ => difference >= 0,
    }
}

fn raw(operand: Operand, frame: &Frame, lane: usize) -> u64 {
    match operand {
        Operand::Constant(bits) => bits,
        Operand::Scalar { word, stride } => {
            frame.scalar(word).wrapping_add(stride.cast_unsigned().wrapping_mul(lane as u64))
        }
        Operand::Lanes { array } => frame.array(array)[lane],
    }
}

fn line(operand: Operand, ty: ScalarType, frame: &Frame) -> Option<Line> {
    let stride = match operand {
        Operand::Scalar { stride, .. } => i128::from(stride),
        Operand::Constant(_) => 0,
        Operand::Lanes { .. } => return None,
    };
    let first = interpreted(raw(operand, frame, 0), ty);
    let last = first + stride * (frame.lanes as i128 - 1);
    let (least, most) = match ty.is_signed() {
        true => (-(1 << (ty.bits() - 1)), (1 << (ty.bits() - 1)) - 1),
        false => (0, (1 << ty.bits()) - 1),
    };
    (least..=most).contains(&last).then_some(Line { first, stride })
}

/// The low bits of a word as a number of a type.
fn interpreted(word: u64, ty: ScalarType) -> i128 {
    let unused = 64 - ty.bits();
    match ty.is_signed() {
        true => i128::from((word << unused).cast_signed() >> unused),
        false => i128::from(word << unused >> unused),
    }
}
