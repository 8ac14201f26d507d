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

/// The bytes of a block that are no device memory.
pub(crate) struct Spaces {
    shared: Vec<u8>,
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
        Self {
            shared: vec![0; (sizes.shared + u64::from(dynamic)) as usize],
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
            Space::Global => Ok(Place::Device(address)),
            Space::Generic => Ok(match Window::of(address) {
                None => Place::Device(address),
                Some((window, inside)) => Place::Own(window, inside),
            }),
            Space::Own(window) => Ok(Place::Own(window, address)),
            Space::Constant => match address.checked_add(len as u64) {
                Some(end) if end <= self.constant => Ok(Place::Device(self.data + address)),
                _ => {
                    let (address, bytes) = (address.max(self.constant), self.constant);
                    Err(LaneFault { lane: reach.lane, cause: Cause::OutsideConstant { address, bytes } })
                }
            },
        }
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
        inside(reach, window, address, len, bytes.len()).map(|range| &bytes[range])
    }

    /// The bytes in a window that an access writes, and perhaps reads.
    pub(crate) fn write(
        &mut self,
        reach: Reach,
        window: Window,
        address: u64,
        len: usize,
    ) -> Result<&mut [u8], LaneFault> {
        let bytes = self.bytes_mut(window, reach.lane);
        if window == Window::Parameter {
            let fault = Fault { address: window.base() + address, kind: FaultKind::NoWriteAccess };
            return Err(LaneFault { lane: reach.lane, cause: memory_cause(fault, reach.access) });
        }
        inside(reach, window, address, len, bytes.len()).map(|range| &mut bytes[range])
    }
}

/// Where in the bytes of a window an access is.
fn inside(reach: Reach, window: Window, address: u64, len: usize, bytes: usize) -> Result<Range<usize>, LaneFault> {
    let start = address.wrapping_sub(window.start());
    match start.checked_add(len as u64) {
        Some(end) if end <= bytes as u64 => Ok(start as usize..end as usize),
        _ => {
            let first = if start < bytes as u64 { window.start() + bytes as u64 } else { address };
            let generic = reach.space == Space::Generic;
            let cause = Cause::Outside { window, address: first, bytes: bytes as u64, access: reach.access, generic };
            Err(LaneFault { lane: reach.lane, cause })
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
