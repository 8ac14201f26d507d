//! Access to all memories behind a multicast address, lane by lane.

use peermap_memory::{Access, Fault, FaultKind, View};
use peermap_ptx::instruction::AtomicOp;
use peermap_ptx::{FloatType, ScalarType};

use super::access::{LaneFault, address, memory_cause, value};
use super::atomic::{joined, with_half};
use super::frame::Frame;
use super::mask::Mask;
use super::spaces::{Place, Reach};
use crate::error::Cause;
use crate::float::wide_sum;
use crate::step::{MultimemAction, MultimemStep, Target};

/// Carries out `multimem.ld_reduce`, `multimem.st` or `multimem.red`. Elements of a vector are accessed one after the other.
pub(crate) fn multimem(step: &MultimemStep, frame: &mut Frame, mask: &Mask, view: View<'_>) -> Result<(), LaneFault> {
    let ty = step.ty;
    for lane in mask.lanes() {
        let start = multicast_address(step, frame, lane, view)?;
        let copies = || view.copies(start);
        let fault = |fault| LaneFault { lane, cause: memory_cause(fault, step.access()) };
        let places = (start..).step_by(ty.size() as usize);
        match &step.action {
            MultimemAction::LoadReduce { op, wide, targets } => {
                for (target, at) in targets.iter().zip(places) {
                    let mut words = copies().map(|copy| read(copy, at, ty));
                    let element = reduced(*op, *wide, ty, &mut words).map_err(fault)?;
                    match target {
                        Some(Target::Lanes { array }) => frame.array_mut(*array)[lane] = element,
                        Some(Target::Scalar { word }) => frame.set_scalar(*word, element),
                        Some(Target::Predicates { .. }) | None => {}
                    }
                }
            }
            MultimemAction::Store { sources } => {
                for (source, at) in sources.iter().zip(places) {
                    let word = value(*source, frame, lane).to_le_bytes();
                    let bytes = &word[..ty.size() as usize];
                    copies().try_for_each(|copy| copy.write(at, bytes)).map_err(fault)?;
                }
            }
            MultimemAction::Reduce { op, sources } => {
                for (source, at) in sources.iter().zip(places) {
                    let operand = value(*source, frame, lane);
                    copies().try_for_each(|copy| reduce(copy, at, (*op, ty), operand)).map_err(fault)?;
                }
            }
        }
    }
    Ok(())
}

/// The address of a lane, once it is sure that it is a multicast address that may be reached so.
fn multicast_address(step: &MultimemStep, frame: &Frame, lane: usize, view: View<'_>) -> Result<u64, LaneFault> {
    let (address, bytes) = (address(step.location, frame, lane), step.bytes());
    let reach = Reach { space: step.location.space, access: step.access(), lane };
    let fault = |fault| LaneFault { lane, cause: memory_cause(fault, step.access()) };
    if !address.is_multiple_of(bytes) {
        return Err(fault(Fault { address, kind: FaultKind::Misaligned { bytes } }));
    }
    let Place::Device(address) = frame.spaces.place(reach, address, bytes as usize)? else {
        return Err(elsewhere(address, lane));
    };
    match view.check(address, bytes, step.access()) {
        Err(Fault { kind: FaultKind::Multicast, .. }) => Ok(address),
        Err(other) => Err(fault(other)),
        Ok(()) => Err(elsewhere(address, lane)),
    }
}

/// The language gives such an access no meaning.
fn elsewhere(address: u64, lane: usize) -> LaneFault {
    let what = format!("multimem at {address:#x}, which is no multicast address,");
    LaneFault { lane, cause: Cause::NotModelled(what) }
}

/// What one copy holds.
fn read(copy: View<'_>, address: u64, ty: ScalarType) -> Result<u64, Fault> {
    let mut word = [0; 8];
    copy.read(address, &mut word[..ty.size() as usize])?;
    Ok(u64::from_le_bytes(word))
}

/// What all copies hold, joined in the order of their devices.
fn reduced(
    op: AtomicOp,
    wide: bool,
    ty: ScalarType,
    words: &mut dyn Iterator<Item = Result<u64, Fault>>,
) -> Result<u64, Fault> {
    match FloatType::of(ty) {
        Some(ty) if wide => Ok(wide_sum(ty, &words.collect::<Result<Vec<u64>, Fault>>()?)),
        _ => words.reduce(|sum, word| Ok(joined(op, ty, false, sum?, word?))).unwrap_or(Ok(0)),
    }
}

/// Joins an operand into what one copy holds.
fn reduce(copy: View<'_>, address: u64, (op, ty): (AtomicOp, ScalarType), operand: u64) -> Result<(), Fault> {
    let bits = ty.bits();
    let operand = operand & (u64::MAX >> (64 - bits));
    let change = |old| joined(op, ty, false, old, operand);
    match bits {
        16 => copy.atomic_update_u32(address & !3, |word| with_half(address, word, change)).map(drop),
        32 => copy.atomic_update_u32(address, |old| change(old.into()) as u32).map(drop),
        _ => copy.atomic_update_u64(address, change).map(drop),
    }
}

impl MultimemStep {
    pub(crate) fn access(&self) -> Access {
        match self.action {
            MultimemAction::LoadReduce { .. } => Access::Read,
            MultimemAction::Store { .. } => Access::Write,
            MultimemAction::Reduce { .. } => Access::ReadWrite,
        }
    }

    /// Whether threads learn what lies in memory.
    pub(crate) fn yields(&self) -> bool {
        matches!(self.action, MultimemAction::LoadReduce { .. })
    }

    /// How many bytes one lane reaches in each copy.
    pub(crate) fn bytes(&self) -> u64 {
        let count = match &self.action {
            MultimemAction::LoadReduce { targets, .. } => targets.len(),
            MultimemAction::Store { sources } | MultimemAction::Reduce { sources, .. } => sources.len(),
        };
        u64::from(self.ty.size()) * count as u64
    }
}
