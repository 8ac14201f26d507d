//! Atomic operations, lane by lane.

use peermap_memory::{Access, View};
use peermap_ptx::instruction::AtomicOp;

use crate::block::access::{LaneFault, address, memory_cause, value};
use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::step::{AtomicStep, Target};

/// Carries out `atom` or `red`.
pub(crate) fn atomic(step: &AtomicStep, frame: &mut Frame, mask: &Mask, view: View<'_>) -> Result<(), LaneFault> {
    for lane in mask.lanes() {
        let address = address(step.location, frame, lane);
        let operand = value(step.operand, frame, lane);
        let swap = step.swap.map_or(0, |swap| value(swap, frame, lane));
        let before = match step.ty.bits() {
            32 => view
                .atomic_update_u32(address, |old| updated(step, u64::from(old), operand & LOW, swap & LOW) as u32)
                .map(u64::from),
            _ => view.atomic_update_u64(address, |old| updated(step, old, operand, swap)),
        };
        let before = before.map_err(|fault| LaneFault { lane, cause: memory_cause(fault, Access::ReadWrite) })?;
        match step.target {
            Some(Target::Lanes { array }) => frame.array_mut(array)[lane] = before,
            Some(Target::Scalar { word }) => frame.set_scalar(word, before),
            Some(Target::Predicates { .. }) | None => {}
        }
    }
    Ok(())
}

const LOW: u64 = 0xFFFF_FFFF;

/// What an atomic operation makes of the value in memory. Bits above the width may be set.
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
        AtomicOp::Add => old.wrapping_add(operand),
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
