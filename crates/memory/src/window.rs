//! The range of device addresses.

use std::iter;
use std::sync::OnceLock;

use nix::errno::Errno;

use crate::MemoryError;
use crate::mapping::Mapping;

/// The size of the window where the kernel allows it: 16 TiB.
pub const PREFERRED_WINDOW_BYTES: u64 = 16 << 40;

/// The smallest window that is of use: 64 GiB.
pub const MINIMUM_WINDOW_BYTES: u64 = 64 << 30;

/// The window starts at a multiple of this (2 TiB), or of its own size where it is smaller, so that a simulated program
/// may ask for alignments up to that.
pub const WINDOW_ALIGNMENT: u64 = 2 << 40;

/// The addresses that simulated devices may hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceWindow {
    /// The first address.
    pub base: u64,
    /// The size: a power of two.
    pub bytes: u64,
}

/// The device addresses of this OS process: a real reservation in which every host access is a segmentation fault.
///
/// The first call makes the reservation; it lasts as long as the process, and every later call gives the same answer.
/// The size is [`PREFERRED_WINDOW_BYTES`], halved until the kernel agrees, but not below [`MINIMUM_WINDOW_BYTES`].
///
/// # Errors
///
/// [`MemoryError::Window`] if the kernel refuses even the smallest window.
pub fn device_window() -> Result<DeviceWindow, MemoryError> {
    static WINDOW: OnceLock<Result<Reservation, Errno>> = OnceLock::new();
    match WINDOW.get_or_init(reserve_largest) {
        Ok(reservation) => Ok(reservation.window),
        Err(source) => Err(MemoryError::Window { bytes: MINIMUM_WINDOW_BYTES, source: *source }),
    }
}

/// The window and the somewhat larger mapping that it lies in.
struct Reservation {
    window: DeviceWindow,
    _mapping: Mapping,
}

fn reserve_largest() -> Result<Reservation, Errno> {
    let halves = |bytes: &u64| Some(bytes / 2).filter(|half| *half >= MINIMUM_WINDOW_BYTES);
    iter::successors(Some(PREFERRED_WINDOW_BYTES), halves).map(reserve).reduce(Result::or).unwrap_or(Err(Errno::ENOMEM))
}

/// Reserves as much more as it takes to find an aligned start in it. The rest stays reserved, which costs nothing.
fn reserve(bytes: u64) -> Result<Reservation, Errno> {
    let alignment = WINDOW_ALIGNMENT.min(bytes);
    let mapping = Mapping::inaccessible(bytes + alignment)?;
    let start = mapping.start().addr().get() as u64;
    let window = DeviceWindow { base: start.next_multiple_of(alignment), bytes };
    Ok(Reservation { window, _mapping: mapping })
}
