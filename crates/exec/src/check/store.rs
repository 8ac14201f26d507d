//! What the lanes of an access reach, and what those of a store write.

use peermap_memory::{Access, View};
use peermap_ptx::instruction::AtomicOp;

use crate::block::access::{address, value};
use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::block::run::chosen;
use crate::block::spaces::{Place, Reach};
use crate::step::{AtomicStep, Elements, Location, MultimemStep, Transfer};
use crate::window::Window;

/// An access to memory of the lanes of a step.
pub(super) struct Touch<'s> {
    pub(super) instruction: u32,
    pub(super) lanes: Mask,
    location: Location,
    /// How many bytes each lane reaches.
    pub(super) bytes: u64,
    pub(super) access: Access,
    /// Whether it has an order, as atomic operations have.
    pub(super) strong: bool,
    store: Option<&'s Transfer>,
}

/// Where a lane reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// An address of device memory, and the arena and offset behind it.
    Device { address: u64, place: (u8, u64) },
    /// In the shared memory of the block.
    Shared(u64),
    /// In constant memory, and at least the last byte behind what there is.
    BehindConstants(u64),
    /// In memory that nobody else has.
    Own,
}

impl<'s> Touch<'s> {
    pub(super) fn of_transfer(step: &'s Transfer, frame: &Frame, lanes: &Mask) -> Self {
        Self {
            instruction: step.instruction,
            lanes: chosen(step.condition, frame, lanes),
            location: step.location,
            bytes: step.bytes() as u64,
            access: step.access(),
            strong: step.ordered,
            store: Some(step),
        }
    }

    pub(super) fn of_atomic(step: &AtomicStep, frame: &Frame, lanes: &Mask) -> Self {
        let only_writes = step.op == AtomicOp::Exchange && !step.yields();
        Self {
            instruction: step.instruction,
            lanes: chosen(step.condition, frame, lanes),
            location: step.location,
            bytes: u64::from(step.ty.size()) * step.elements.len() as u64,
            access: if only_writes { Access::Write } else { Access::ReadWrite },
            strong: true,
            store: None,
        }
    }

    pub(super) fn of_multimem(step: &MultimemStep, frame: &Frame, lanes: &Mask) -> Self {
        Self {
            instruction: step.instruction,
            lanes: chosen(step.condition, frame, lanes),
            location: step.location,
            bytes: step.bytes(),
            access: step.access(),
            strong: step.ordered,
            store: None,
        }
    }

    /// The address of the first lane, if there is one.
    pub(super) fn first_address(&self, frame: &Frame) -> Option<u64> {
        (!self.lanes.is_empty()).then(|| address(self.location, frame, self.lanes.lowest()))
    }

    pub(super) fn reads(&self) -> bool {
        self.access != Access::Write
    }

    pub(super) fn writes(&self) -> bool {
        self.access != Access::Read
    }

    /// Where a lane reaches; `None` if it faults there.
    pub(super) fn spot(&self, frame: &Frame, view: View<'_>, lane: usize) -> Option<Spot> {
        let address = address(self.location, frame, lane);
        let reach = Reach { space: self.location.space, access: self.access, lane };
        let place = frame.spaces.place(reach, address, self.bytes as usize).ok()?;
        match place {
            _ if !address.is_multiple_of(self.bytes) => None,
            Place::Device(address) => {
                view.check(address, self.bytes, self.access).ok()?;
                Some(Spot::Device { address, place: view.place(address)? })
            }
            Place::BehindConstants(address) => Some(Spot::BehindConstants(address)),
            Place::Own(Window::Shared, inside) => Some(Spot::Shared(inside)),
            Place::Own(Window::Local | Window::Parameter, _) => Some(Spot::Own),
        }
    }

    /// One of the bytes that a lane stores, if that is what it does.
    pub(super) fn stored(&self, frame: &Frame, lane: usize, byte: u64) -> Option<u8> {
        let Elements::Stored(sources) = &self.store?.elements else { return None };
        let size = u64::from(self.store?.element.size());
        let source = sources.get((byte / size) as usize)?;
        Some((value(*source, frame, lane) >> (8 * (byte % size))) as u8)
    }
}
