//! Atomic operations, lane by lane.

use peermap_memory::{Access, Fault, FaultKind, View};
use peermap_ptx::FloatType;
use peermap_ptx::instruction::AtomicOp;

use crate::block::access::{LaneFault, address, memory_cause, value};
use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::block::spaces::{changed_u32, changed_u64};
use crate::float::sum;
use crate::step::{AtomicStep, Target};

/// Carries out `atom` or `red`.
pub(crate) fn atomic(step: &AtomicStep, frame: &mut Frame, mask: &Mask, view: View<'_>) -> Result<(), LaneFault> {
    for lane in mask.lanes() {
        let operand = value(step.operand, frame, lane);
        let swap = step.swap.map_or(0, |swap| value(swap, frame, lane));
        let before = update(step, frame, lane, (operand, swap), view)?;
        match step.target {
            Some(Target::Lanes { array }) => frame.array_mut(array)[lane] = before,
            Some(Target::Scalar { word }) => frame.set_scalar(word, before),
            Some(Target::Predicates { .. }) | None => {}
        }
    }
    Ok(())
}

/// Replaces what lies where a lane reaches; what lay there before.
fn update(
    step: &AtomicStep,
    frame: &mut Frame,
    lane: usize,
    (operand, swap): (u64, u64),
    view: View<'_>,
) -> Result<u64, LaneFault> {
    let bits = step.ty.bits();
    let low = |word: u64| word & (u64::MAX >> (64 - bits));
    let (operand, swap) = (low(operand), low(swap));
    let address = address(step.location, frame, lane);
    match bits {
        16 => update_half(step, frame, lane, view, |old| updated(step, old, operand, swap)),
        32 => {
            let change = |old| updated(step, u64::from(old), operand, swap) as u32;
            changed_u32(step, address, frame, lane, view, change).map(u64::from)
        }
        _ => changed_u64(step, address, frame, lane, view, |old| updated(step, old, operand, swap)),
    }
}

/// Replaces 16 bits: half of a word, the other half of which stays.
fn update_half(
    step: &AtomicStep,
    frame: &mut Frame,
    lane: usize,
    view: View<'_>,
    change: impl Fn(u64) -> u64,
) -> Result<u64, LaneFault> {
    let address = address(step.location, frame, lane);
    if !address.is_multiple_of(2) {
        let fault = Fault { address, kind: FaultKind::Misaligned { bytes: 2 } };
        return Err(LaneFault { lane, cause: memory_cause(fault, Access::ReadWrite) });
    }
    let place = 8 * (address % 4) as u32;
    let half = |word: u32| word >> place & 0xFFFF;
    let replaced = |word: u32| word & !(0xFFFF << place) | (change(half(word).into()) as u32 & 0xFFFF) << place;
    changed_u32(step, address & !3, frame, lane, view, replaced).map(|word| half(word).into())
}

/// What an atomic operation makes of the value in memory. Nothing has bits above the width.
fn updated(step: &AtomicStep, old: u64, operand: u64, swap: u64) -> u64 {
    let signed =
        |bits: u64| if step.ty.bits() == 32 { i64::from((bits as u32).cast_signed()) } else { bits.cast_signed() };
    let (less, is_signed) = (signed(operand) < signed(old), step.ty.is_signed());
    let less = if is_signed { less } else { operand < old };
    match step.op {
        AtomicOp::Exchange => operand,
        AtomicOp::CompareAndSwap => {
            if old == operand {
                swap
            } else {
                old
            }
        }
        AtomicOp::Add => match FloatType::of(step.ty) {
            Some(ty) => sum(ty, step.flush, old, operand),
            None => old.wrapping_add(operand),
        },
        AtomicOp::Increment => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        AtomicOp::Min => {
            if less {
                operand
            } else {
                old
            }
        }
        AtomicOp::Max => {
            if less {
                old
            } else {
                operand
            }
        }
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
    }
}
