//! Atomic operations, lane by lane.

use peermap_memory::{Access, Fault, FaultKind, View};
use peermap_ptx::instruction::AtomicOp;
use peermap_ptx::{FloatType, ScalarType};

use crate::block::access::{LaneFault, address, memory_cause, value};
use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::block::spaces::{changed_u32, changed_u64};
use crate::float::{extreme, sum};
use crate::step::{AtomicStep, Space, Target};
use crate::window::Window;

/// Carries out `atom` or `red`.
pub(crate) fn atomic(step: &AtomicStep, frame: &mut Frame, mask: &Mask, view: View<'_>) -> Result<(), LaneFault> {
    let size = u64::from(step.ty.size());
    let bytes = size * step.elements.len() as u64;
    for lane in mask.lanes() {
        let start = address(step.location, frame, lane);
        if !start.is_multiple_of(bytes) {
            let fault = Fault { address: start, kind: FaultKind::Misaligned { bytes } };
            return Err(LaneFault { lane, cause: memory_cause(fault, Access::ReadWrite) });
        }
        for (element, address) in step.elements.iter().zip((start..).step_by(size as usize)) {
            let operand = value(element.operand, frame, lane);
            let swap = element.swap.map_or(0, |swap| value(swap, frame, lane));
            let before = update(step, address, (operand, swap), frame, lane, view)?;
            match element.target {
                Some(Target::Lanes { array }) => frame.array_mut(array)[lane] = before,
                Some(Target::Scalar { word }) => frame.set_scalar(word, before),
                Some(Target::Predicates { .. }) | None => {}
            }
        }
    }
    Ok(())
}

/// Replaces what lies where a lane reaches; what lay there before.
fn update(
    step: &AtomicStep,
    address: u64,
    (operand, swap): (u64, u64),
    frame: &mut Frame,
    lane: usize,
    view: View<'_>,
) -> Result<u64, LaneFault> {
    let bits = step.ty.bits();
    let low = |word: u64| word & (u64::MAX >> (64 - bits));
    let (operand, swap) = (low(operand), low(swap));
    // The units of device memory do not know subnormal numbers; shared memory is changed by the threads themselves.
    let flush = step.flush && is_in_device_memory(step.location.space, address);
    let change = |old| updated(step, flush, old, operand, swap);
    match bits {
        16 => update_half(step, address, frame, lane, view, change),
        32 => changed_u32(step, address, frame, lane, view, |old| change(old.into()) as u32).map(u64::from),
        _ => changed_u64(step, address, frame, lane, view, change),
    }
}

fn is_in_device_memory(space: Space, address: u64) -> bool {
    match space {
        Space::Generic => Window::of(address).is_none(),
        Space::Global | Space::Constant => true,
        Space::Own(_) => false,
    }
}

/// Replaces 16 bits: half of a word, the other half of which stays.
fn update_half(
    step: &AtomicStep,
    address: u64,
    frame: &mut Frame,
    lane: usize,
    view: View<'_>,
    change: impl Fn(u64) -> u64,
) -> Result<u64, LaneFault> {
    let replaced = |word: u32| with_half(address, word, &change);
    changed_u32(step, address & !3, frame, lane, view, replaced).map(|word| half(address, word).into())
}

/// The half at an address of the word that it lies in.
fn half(address: u64, word: u32) -> u32 {
    word >> (8 * (address % 4) as u32) & 0xFFFF
}

/// A word with something made of the half at an address.
pub(crate) fn with_half(address: u64, word: u32, change: impl Fn(u64) -> u64) -> u32 {
    let place = 8 * (address % 4) as u32;
    word & !(0xFFFF << place) | (change(half(address, word).into()) as u32 & 0xFFFF) << place
}

/// What an atomic operation makes of the value in memory. Nothing has bits above the width.
fn updated(step: &AtomicStep, flush: bool, old: u64, operand: u64, swap: u64) -> u64 {
    match step.op {
        AtomicOp::CompareAndSwap if old == operand => swap,
        AtomicOp::CompareAndSwap => old,
        op => joined(op, step.ty, flush, old, operand),
    }
}

/// Two values made one. Nothing has bits above the width.
pub(crate) fn joined(op: AtomicOp, ty: ScalarType, flush: bool, old: u64, operand: u64) -> u64 {
    let number = FloatType::of(ty);
    let signed = |bits: u64| if ty.bits() == 32 { i64::from((bits as u32).cast_signed()) } else { bits.cast_signed() };
    let less = if ty.is_signed() { signed(operand) < signed(old) } else { operand < old };
    match (op, number) {
        (AtomicOp::Exchange | AtomicOp::CompareAndSwap, _) => operand,
        (AtomicOp::Add, Some(ty)) => sum(ty, flush, old, operand),
        (AtomicOp::Add, None) => old.wrapping_add(operand) & (u64::MAX >> (64 - ty.bits())),
        (AtomicOp::Increment, _) => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        (AtomicOp::Decrement, _) => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        (AtomicOp::Min, Some(ty)) => extreme(ty, false, old, operand),
        (AtomicOp::Max, Some(ty)) => extreme(ty, true, old, operand),
        (AtomicOp::Min, None) => {
            if less {
                operand
            } else {
                old
            }
        }
        (AtomicOp::Max, None) => {
            if less {
                old
            } else {
                operand
            }
        }
        (AtomicOp::And, _) => old & operand,
        (AtomicOp::Or, _) => old | operand,
        (AtomicOp::Xor, _) => old ^ operand,
    }
}
