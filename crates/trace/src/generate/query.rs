//! Questions about addresses and devices. They change nothing.

use serde_json::json;

use super::error::GenerateError;
use super::mapping::{at, pick, range};
use super::picture::GRANULE;
use super::share::retained;
use super::writing::Writing;

const ATTRIBUTES: [&str; 6] =
    ["RANGE_START_ADDR", "RANGE_SIZE", "MEMORY_TYPE", "DEVICE_ORDINAL", "IS_LEGACY_CUDA_IPC_CAPABLE", "DEVICE_POINTER"];

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(20) {
        0..=5 => get_access(writing, process),
        6..=9 => retained(writing, process),
        10..=13 => get_range(writing, process),
        14..=17 => attribute(writing, process),
        18 => granularity(writing, process),
        _ => peers(writing, process),
    }
}

/// An address of this process's own: in a reservation, mapped or not, or in an allocation.
fn address(writing: &mut Writing<'_>, process: u32) -> Option<String> {
    let allocations = writing.process(process).allocations.clone();
    if writing.random.percent(20)
        && let Some(allocation) = writing.random.pick(&allocations)
    {
        let offset = writing.random.one([0, 0, 1, allocation.size - 1]);
        return Some(format!("${}+{offset}", allocation.name));
    }
    let (_, reservation) = pick(writing, process)?;
    let (offset, _) = range(writing, &reservation);
    let inside = writing.random.one([0, 0, 1, 4096, GRANULE - 1]);
    Some(at(&reservation, (offset + inside).min(reservation.size - 1)))
}

fn get_access(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(ptr) = address(writing, process) else { return Ok(()) };
    let last = u64::from(writing.devices) - 1;
    let device = writing.random.one([0, 0, 0, last, last, 7]);
    writing.say(process, "cuMemGetAccess", json!({"ptr": ptr, "device": device}))?;
    Ok(())
}

fn get_range(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(ptr) = address(writing, process) else { return Ok(()) };
    writing.say(process, "cuMemGetAddressRange", json!({"ptr": ptr}))?;
    Ok(())
}

fn attribute(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(ptr) = address(writing, process) else { return Ok(()) };
    let attribute = writing.random.one(ATTRIBUTES);
    writing.say(process, "cuPointerGetAttribute", json!({"attribute": attribute, "ptr": ptr}))?;
    Ok(())
}

fn granularity(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let option = writing.random.one(["minimum", "recommended"]);
    let device = writing.random.one([0, 0, 7, -1]);
    let arguments = json!({"device": device, "handle_types": "posix_fd", "option": option});
    writing.say(process, "cuMemGetAllocationGranularity", arguments)?;
    Ok(())
}

fn peers(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let device = writing.random.below(writing.devices.into());
    let peer = writing.random.below(writing.devices.into());
    writing.say(process, "cuDeviceCanAccessPeer", json!({"device": device, "peer": peer}))?;
    Ok(())
}
