//! Loads and stores of all lanes of a step.

use std::ops::Range;

use peermap_memory::{Access, Fault, FaultKind, View};

use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::block::spaces::{Place, Reach};
use crate::error::Cause;
use crate::step::{Elements, Location, Operand, Space, Target, Transfer};
use crate::window::Window;

/// What ended a step, and in which lane.
pub(crate) struct LaneFault {
    pub(crate) lane: usize,
    pub(crate) cause: Cause,
}

/// Carries out a load or a store. Lanes whose bytes lie side by side are checked and moved as one range.
pub(crate) fn transfer(
    step: &Transfer,
    frame: &mut Frame,
    mask: &Mask,
    view: View<'_>,
    scratch: &mut Vec<u8>,
) -> Result<(), LaneFault> {
    if let Elements::Loaded(targets) = &step.elements
        && targets.iter().flatten().all(|(target, _)| matches!(target, Target::Scalar { .. }))
    {
        // All lanes read one place, and what they read is kept once.
        let lane = mask.lowest();
        return Piece { step, view, lanes: lane..lane + 1 }.carry_out(frame, scratch);
    }
    for run in mask.runs() {
        let mut start = run.start;
        while start < run.end {
            let end = end_of_range(step, frame, start..run.end);
            Piece { step, view, lanes: start..end }.carry_out(frame, scratch)?;
            start = end;
        }
    }
    Ok(())
}

/// Where the lanes end whose bytes follow those of the first.
fn end_of_range(step: &Transfer, frame: &Frame, lanes: Range<usize>) -> usize {
    let bytes = step.bytes() as u64;
    let follows = |pair: &[u64]| pair[1].wrapping_sub(pair[0]) == bytes;
    if is_each_lanes_own(step.location, frame, lanes.start) {
        return lanes.start + 1;
    }
    match step.location.base {
        Operand::Scalar { stride, .. } if stride.cast_unsigned() == bytes => {
            // Where a row of threads ends, the value starts again.
            lanes.end.min((lanes.start / frame.row + 1) * frame.row)
        }
        Operand::Constant(_) | Operand::Scalar { .. } => lanes.start + 1,
        Operand::Lanes { array } => {
            let addresses = &frame.array(array)[lanes.clone()];
            lanes.start + 1 + addresses.windows(2).position(|pair| !follows(pair)).unwrap_or(lanes.len() - 1)
        }
    }
}

/// Whether the bytes are in memory that another lane has at the same address.
fn is_each_lanes_own(location: Location, frame: &Frame, lane: usize) -> bool {
    match location.space {
        Space::Own(window) => window == Window::Local,
        Space::Generic => Window::Local.contains(address(location, frame, lane)),
        Space::Global | Space::Constant => false,
    }
}

/// The address of a lane.
pub(crate) fn address(location: Location, frame: &Frame, lane: usize) -> u64 {
    let address = value(location.base, frame, lane).wrapping_add_signed(location.offset);
    if location.bits == 32 { address & 0xFFFF_FFFF } else { address }
}

/// A value of a lane. What is kept once may have more bits than its register.
pub(crate) fn value(operand: Operand, frame: &Frame, lane: usize) -> u64 {
    match operand {
        Operand::Constant(bits) => bits,
        Operand::Scalar { word, stride: 0 } => frame.scalar(word),
        Operand::Scalar { word, stride } => {
            frame.scalar(word).wrapping_add(stride.cast_unsigned().wrapping_mul(frame.tid_x()[lane]))
        }
        Operand::Lanes { array } => frame.array(array)[lane],
    }
}

/// Lanes whose bytes lie side by side.
struct Piece<'s> {
    step: &'s Transfer,
    view: View<'s>,
    lanes: Range<usize>,
}

impl Piece<'_> {
    fn carry_out(&self, frame: &mut Frame, scratch: &mut Vec<u8>) -> Result<(), LaneFault> {
        let address = address(self.step.location, frame, self.lanes.start);
        let bytes = self.step.bytes();
        if !address.is_multiple_of(bytes as u64) {
            let kind = FaultKind::Misaligned { bytes: bytes as u64 };
            return Err(self.fault(address, Fault { address, kind }));
        }
        let reach = Reach { space: self.step.location.space, access: self.step.access(), lane: self.lanes.start };
        let len = self.lanes.len() * bytes;
        let done = match frame.spaces.place(reach, address, len) {
            Ok(Place::Device(start)) => self.in_device(start, len, frame, scratch),
            Ok(Place::Own(window, start)) => self.in_window(reach, (window, start), frame, scratch),
            Ok(Place::BehindConstants(start)) => self.behind_constants(start, len, frame, scratch),
            Err(fault) => Err(fault),
        };
        done.map_err(|fault| self.of_its_lane(address, fault))
    }

    fn in_device(&self, address: u64, len: usize, frame: &mut Frame, scratch: &mut Vec<u8>) -> Result<(), LaneFault> {
        let done = match &self.step.elements {
            Elements::Loaded(targets) => {
                scratch.resize(len, 0);
                let done = self.view.read(address, scratch);
                if done.is_ok() {
                    self.spread(targets, frame, scratch);
                }
                done
            }
            Elements::Stored(sources) => match self.repeated(sources, frame) {
                Some(word) if word == u64::from_le_bytes([word as u8; 8]) => {
                    self.view.fill(address, word as u8, len as u64)
                }
                Some(word) => self.view.fill_words(address, len as u64, |_| word),
                None => {
                    scratch.resize(len, 0);
                    self.gather(sources, frame, scratch);
                    self.view.write(address, scratch)
                }
            },
        };
        done.map_err(|fault| self.fault(address, fault))
    }

    /// A load of constants of which there are fewer: the rest is zero.
    fn behind_constants(
        &self,
        start: u64,
        len: usize,
        frame: &mut Frame,
        scratch: &mut Vec<u8>,
    ) -> Result<(), LaneFault> {
        let Elements::Loaded(targets) = &self.step.elements else {
            let cause = Cause::NotModelled("a store to constant memory".to_owned());
            return Err(LaneFault { lane: self.lanes.start, cause });
        };
        let (device, there) = frame.spaces.constants_from(start);
        scratch.clear();
        scratch.resize(len, 0);
        let there = there as usize;
        self.view.read(device, &mut scratch[..there]).map_err(|fault| self.fault(device, fault))?;
        self.spread(targets, frame, scratch);
        Ok(())
    }

    fn in_window(
        &self,
        reach: Reach,
        (window, address): (Window, u64),
        frame: &mut Frame,
        scratch: &mut Vec<u8>,
    ) -> Result<(), LaneFault> {
        let len = self.lanes.len() * self.step.bytes();
        scratch.resize(len, 0);
        match &self.step.elements {
            Elements::Loaded(targets) => {
                scratch.copy_from_slice(frame.spaces.read(reach, window, address, len)?);
                self.spread(targets, frame, scratch);
            }
            Elements::Stored(sources) => {
                self.gather(sources, frame, scratch);
                frame.spaces.write(reach, window, address, len)?.copy_from_slice(scratch);
            }
        }
        Ok(())
    }

    fn fault(&self, start: u64, fault: Fault) -> LaneFault {
        let lane = self.lanes.start + (fault.address.wrapping_sub(start) / self.step.bytes() as u64) as usize;
        LaneFault { lane, cause: memory_cause(fault, self.step.access()) }
    }

    /// The lane whose bytes are the first that are outside of what there is.
    fn of_its_lane(&self, start: u64, fault: LaneFault) -> LaneFault {
        let (Cause::Outside { .. }, Some(outside)) = (&fault.cause, fault.cause.address()) else { return fault };
        let lane = self.lanes.start + (outside.wrapping_sub(start) / self.step.bytes() as u64) as usize;
        LaneFault { lane, ..fault }
    }

    /// The eight bytes that all lanes store over and over, if that is what they do.
    fn repeated(&self, sources: &[Operand], frame: &Frame) -> Option<u64> {
        let size = self.step.element.size();
        let same = |operand: &Operand| match operand {
            Operand::Constant(_) | Operand::Scalar { stride: 0, .. } => Some(low(value(*operand, frame, 0), size)),
            Operand::Scalar { .. } | Operand::Lanes { .. } => None,
        };
        let first = same(sources.first()?)?;
        let all = sources.iter().all(|source| same(source) == Some(first));
        let spread = u64::MAX / low(u64::MAX, size);
        all.then(|| first.wrapping_mul(spread))
    }

    fn gather(&self, sources: &[Operand], frame: &Frame, bytes: &mut [u8]) {
        match self.step.element.size() {
            1 => self.gather_as(sources, frame, bytes, |value| [value as u8]),
            2 => self.gather_as(sources, frame, bytes, |value| (value as u16).to_le_bytes()),
            4 => self.gather_as(sources, frame, bytes, |value| (value as u32).to_le_bytes()),
            _ => self.gather_as(sources, frame, bytes, u64::to_le_bytes),
        }
    }

    fn gather_as<const N: usize>(
        &self,
        sources: &[Operand],
        frame: &Frame,
        bytes: &mut [u8],
        narrow: impl Fn(u64) -> [u8; N],
    ) {
        for (place, source) in sources.iter().enumerate() {
            let elements = bytes.as_chunks_mut::<N>().0.iter_mut().skip(place).step_by(sources.len());
            match source {
                Operand::Lanes { array } => {
                    let values = &frame.array(*array)[self.lanes.clone()];
                    elements.zip(values).for_each(|(element, value)| *element = narrow(*value));
                }
                operand => elements
                    .zip(self.lanes.clone())
                    .for_each(|(element, lane)| *element = narrow(value(*operand, frame, lane))),
            }
        }
    }

    fn spread(&self, targets: &[Option<(Target, u32)>], frame: &mut Frame, bytes: &[u8]) {
        match self.step.element.size() {
            1 => self.spread_as(targets, frame, bytes, |bytes: [u8; 1]| u64::from(bytes[0])),
            2 => self.spread_as(targets, frame, bytes, |bytes| u64::from(u16::from_le_bytes(bytes))),
            4 => self.spread_as(targets, frame, bytes, |bytes| u64::from(u32::from_le_bytes(bytes))),
            _ => self.spread_as(targets, frame, bytes, u64::from_le_bytes),
        }
    }

    fn spread_as<const N: usize>(
        &self,
        targets: &[Option<(Target, u32)>],
        frame: &mut Frame,
        bytes: &[u8],
        widen: impl Fn([u8; N]) -> u64,
    ) {
        let signed = self.step.element.is_signed();
        for (place, target) in targets.iter().enumerate() {
            let Some((target, register_bits)) = target else { continue };
            let extended = |element: [u8; N]| match signed {
                true => sign_extended(widen(element), N as u32, *register_bits),
                false => widen(element),
            };
            let elements = bytes.as_chunks::<N>().0.iter().skip(place).step_by(targets.len());
            match target {
                Target::Scalar { word } => elements.take(1).for_each(|it| frame.set_scalar(*word, extended(*it))),
                // A predicate cannot be loaded.
                Target::Predicates { .. } => {}
                Target::Lanes { array } => {
                    let values = &mut frame.array_mut(*array)[self.lanes.clone()];
                    values.iter_mut().zip(elements).for_each(|(value, element)| *value = extended(*element));
                }
            }
        }
    }
}

pub(crate) fn memory_cause(fault: Fault, access: Access) -> Cause {
    Cause::Memory { address: fault.address, access, kind: fault.kind }
}

/// The low bytes of a word.
fn low(word: u64, bytes: u32) -> u64 {
    word << (64 - 8 * bytes) >> (64 - 8 * bytes)
}

/// A value of so many bytes with its sign, in a register of so many bits.
fn sign_extended(value: u64, bytes: u32, register_bits: u32) -> u64 {
    let extended = ((value << (64 - 8 * bytes)).cast_signed() >> (64 - 8 * bytes)).cast_unsigned();
    extended << (64 - register_bits) >> (64 - register_bits)
}
