//! Memory that a block and its threads have for themselves.

use std::ops::Range;

use peermap_memory::{Access, Fault, FaultKind, View};

use crate::block::access::{LaneFault, memory_cause};
use crate::block::frame::Frame;
use crate::error::Cause;
use crate::step::{AtomicStep, Space};
use crate::window::Window;

/// How much there is of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpaceSizes {
    pub(crate) shared: u64,
    pub(crate) local: u64,
    pub(crate) constant: u64,
}

/// Shared memory is set aside for a block in units of so many bytes.
pub(crate) const SHARED_UNIT: u64 = 128;

/// The bytes of a block that are no device memory.
pub(crate) struct Spaces {
    /// What the system has for itself, what the kernel asked for, and what the hardware gives beyond: a block reaches all
    /// of it.
    shared: Vec<u8>,
    /// How much of it the kernel asked for.
    shared_bytes: u64,
    /// What the first thread has, then what the second has, and so on.
    local: Vec<u8>,
    local_bytes: usize,
    parameters: Vec<u8>,
    /// Where the variables of the module start.
    data: u64,
    constant: u64,
}

/// Where bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In device memory.
    Device(u64),
    /// In a window, at this address of it.
    Own(Window, u64),
    /// In constant memory, and at least the last byte behind what the module has there.
    BehindConstants(u64),
}

/// An access of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    pub(crate) space: Space,
    pub(crate) access: Access,
    pub(crate) lane: usize,
}

impl Spaces {
    pub(crate) fn new(sizes: SpaceSizes, dynamic: u32, lanes: usize, parameters: &[u8], data: u64) -> Self {
        let shared_bytes = sizes.shared + u64::from(dynamic);
        Self {
            shared: vec![0; (Window::Shared.start() + shared_bytes).next_multiple_of(SHARED_UNIT) as usize],
            shared_bytes,
            local: vec![0; sizes.local as usize * lanes],
            local_bytes: sizes.local as usize,
            parameters: parameters.to_vec(),
            data,
            constant: sizes.constant,
        }
    }

    /// Makes ready for the next block. What it reads before it writes is zero, whatever ran before.
    pub(crate) fn clear(&mut self) {
        self.shared.fill(0);
        self.local.fill(0);
    }

    /// Where `len` bytes are that start at an address; constants are looked up here.
    pub(crate) fn place(&self, reach: Reach, address: u64, len: usize) -> Result<Place, LaneFault> {
        match reach.space {
            Space::Global => match Window::of(address) {
                Some((window @ (Window::Shared | Window::Local), _)) => {
                    let cause = Cause::WrongSpace { address, window, access: reach.access };
                    Err(LaneFault { lane: reach.lane, cause })
                }
                _ => Ok(Place::Device(address)),
            },
            Space::Generic => Ok(match Window::of(address) {
                None => Place::Device(address),
                Some((window, inside)) => Place::Own(window, inside),
            }),
            Space::Own(window) => Ok(Place::Own(window, address)),
            Space::Constant => Ok(match address.checked_add(len as u64) {
                Some(end) if end <= self.constant => Place::Device(self.data + address),
                _ => Place::BehindConstants(address),
            }),
        }
    }

    /// Where the constants from an address on are in device memory, and how many bytes of them there are. Behind them the
    /// hardware reads zeros.
    pub(crate) fn constants_from(&self, address: u64) -> (u64, u64) {
        (self.data.wrapping_add(address), self.constant.saturating_sub(address))
    }

    /// The addresses in a window that a kernel asked for.
    pub(crate) fn asked_for(&self, window: Window) -> Range<u64> {
        let bytes = match window {
            Window::Shared => self.shared_bytes,
            Window::Local => self.local_bytes as u64,
            Window::Parameter => self.parameters.len() as u64,
        };
        window.start()..window.start() + bytes
    }

    /// How many bytes of constants the module has.
    pub(crate) fn constants(&self) -> u64 {
        self.constant
    }

    /// What there is of a window.
    fn bytes(&self, window: Window, lane: usize) -> &[u8] {
        match window {
            Window::Shared => &self.shared,
            Window::Local => &self.local[lane * self.local_bytes..][..self.local_bytes],
            Window::Parameter => &self.parameters,
        }
    }

    fn bytes_mut(&mut self, window: Window, lane: usize) -> &mut [u8] {
        match window {
            Window::Shared => &mut self.shared,
            Window::Local => &mut self.local[lane * self.local_bytes..][..self.local_bytes],
            Window::Parameter => &mut self.parameters,
        }
    }

    /// The bytes in a window that an access reads.
    pub(crate) fn read(&self, reach: Reach, window: Window, address: u64, len: usize) -> Result<&[u8], LaneFault> {
        let bytes = self.bytes(window, reach.lane);
        self.inside(reach, window, address, len, bytes.len()).map(|range| &bytes[range])
    }

    /// The bytes in a window that an access writes, and perhaps reads.
    pub(crate) fn write(
        &mut self,
        reach: Reach,
        window: Window,
        address: u64,
        len: usize,
    ) -> Result<&mut [u8], LaneFault> {
        if window == Window::Parameter {
            let fault = Fault { address: window.base() + address, kind: FaultKind::NoWriteAccess };
            return Err(LaneFault { lane: reach.lane, cause: memory_cause(fault, reach.access) });
        }
        let there = self.bytes(window, reach.lane).len();
        let range = self.inside(reach, window, address, len, there)?;
        Ok(&mut self.bytes_mut(window, reach.lane)[range])
    }

    /// Where in the bytes of a window an access is, of which there are so many.
    fn inside(
        &self,
        reach: Reach,
        window: Window,
        address: u64,
        len: usize,
        there: usize,
    ) -> Result<Range<usize>, LaneFault> {
        match address.checked_add(len as u64) {
            Some(end) if end <= there as u64 => Ok(address as usize..end as usize),
            _ => {
                let asked_for = self.asked_for(window);
                let (address, bytes) = (address.max(there as u64), asked_for.end - asked_for.start);
                let generic = reach.space == Space::Generic;
                let cause = Cause::Outside { window, address, bytes, access: reach.access, generic };
                Err(LaneFault { lane: reach.lane, cause })
            }
        }
    }
}

macro_rules! changed {
    ($name:ident, $number:ty, $update:ident) => {
        /// Replaces the number at an address that an atomic operation of a lane reaches by what `change` makes of it; the number before.
        pub(crate) fn $name(
            step: &AtomicStep,
            address: u64,
            frame: &mut Frame,
            lane: usize,
            view: View<'_>,
            mut change: impl FnMut($number) -> $number,
        ) -> Result<$number, LaneFault> {
            const BYTES: usize = size_of::<$number>();
            let reach = Reach { space: step.location.space, access: Access::ReadWrite, lane };
            let device = |fault| LaneFault { lane, cause: memory_cause(fault, Access::ReadWrite) };
            match frame.spaces.place(reach, address, BYTES)? {
                Place::Device(address) => view.$update(address, change).map_err(device),
                Place::Own(_, inside) if !inside.is_multiple_of(BYTES as u64) => {
                    let kind = FaultKind::Misaligned { bytes: BYTES as u64 };
                    Err(device(Fault { address, kind }))
                }
                Place::BehindConstants(_) => {
                    let cause = Cause::NotModelled("an atomic operation on constant memory".to_owned());
                    Err(LaneFault { lane, cause })
                }
                Place::Own(window, inside) => {
                    let bytes = frame.spaces.write(reach, window, inside, BYTES)?;
                    let mut before = [0; BYTES];
                    before.copy_from_slice(bytes);
                    let before = <$number>::from_le_bytes(before);
                    bytes.copy_from_slice(&change(before).to_le_bytes());
                    Ok(before)
                }
            }
        }
    };
}

changed!(changed_u32, u32, atomic_update_u32);
changed!(changed_u64, u64, atomic_update_u64);
