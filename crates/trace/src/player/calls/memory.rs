//! Physical allocations, their handles, and `cuMemAlloc` memory.

use peermap_driver::{AllocationProp, AllocationType, CompressionType, GranularityOption, Location, LocationType};
use serde_json::{Map, Value as Json, json};

use crate::player::arguments::{Arguments, wrong};
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Value;

pub(super) fn get_allocation_granularity(process: &mut Process, given: Arguments<'_>) -> Answered {
    let size = process.driver.mem_get_allocation_granularity(&properties(given)?, option(given)?)?;
    Ok(Answer::out([("granularity", json!(size.get()))]))
}

pub(super) fn option(given: Arguments<'_>) -> Result<GranularityOption, PlayError> {
    match given.get("option") {
        None => Ok(GranularityOption::MINIMUM),
        Some(name) => match name.as_str() {
            Some("minimum") => Ok(GranularityOption::MINIMUM),
            Some("recommended") => Ok(GranularityOption::RECOMMENDED),
            _ => Err(wrong("option", name, "minimum or recommended")),
        },
    }
}

fn properties(given: Arguments<'_>) -> Result<AllocationProp, PlayError> {
    Ok(AllocationProp {
        allocation_type: AllocationType(given.number_or("type", 1)?),
        requested_handle_types: given.handle_types("handle_types")?,
        location: location(given)?,
        compression: CompressionType(given.number_or("compression", 0)?),
        gpu_direct_rdma: given.truth("gpu_direct_rdma")?,
        usage: 0,
        win32_security_attributes: given.truth("win32_security_attributes")?,
    })
}

/// A place from `location_type` and `device`; device 0 by default.
pub(super) fn location(given: Arguments<'_>) -> Result<Location, PlayError> {
    let kind = LocationType(given.number_or("location_type", 1)?);
    Ok(Location { kind, id: given.device("device")?.0 })
}

pub(super) fn create(process: &mut Process, given: Arguments<'_>) -> Answered {
    let size = given.size("size")?;
    let handle = process.driver.mem_create(size, &properties(given)?, given.number_or("flags", 0)?)?;
    Answer::value(Value::Memory(handle))
}

pub(super) fn release(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.mem_release(given.memory("handle", &process.values)?)?;
    if let Some(name) = given.name_of("handle") {
        process.values.retire(name);
    }
    Answer::nothing()
}

pub(super) fn retain_allocation_handle(process: &mut Process, given: Arguments<'_>) -> Answered {
    let handle = process.driver.mem_retain_allocation_handle(given.address("ptr", &process.values)?)?;
    let names = process.values.same_memory(handle);
    Ok(Answer::out([("same_as", json!(names))]).with(Value::Memory(handle)))
}

pub(super) fn get_allocation_properties(process: &mut Process, given: Arguments<'_>) -> Answered {
    let handle = given.memory("handle", &process.values)?;
    let properties = process.driver.mem_get_allocation_properties_from_handle(handle)?;
    Ok(Answer { out: Some(properties_out(&properties)), value: None })
}

/// The properties of an allocation as the recordings write them.
pub(crate) fn properties_out(properties: &AllocationProp) -> Map<String, Json> {
    let fields = [
        ("type", json!(properties.allocation_type.0)),
        ("handle_types", json!(properties.requested_handle_types.0)),
        ("location_type", json!(properties.location.kind.0)),
        ("device", json!(properties.location.id)),
        ("compression", json!(properties.compression.0)),
        ("gpu_direct_rdma", json!(u8::from(properties.gpu_direct_rdma))),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

pub(super) fn alloc(process: &mut Process, given: Arguments<'_>) -> Answered {
    let address = process.driver.mem_alloc(given.size("size")?)?;
    Answer::value(Value::Address(address))
}

pub(super) fn free(process: &mut Process, given: Arguments<'_>) -> Answered {
    let address = given.address("ptr", &process.values)?;
    process.driver.mem_free(address)?;
    process.values.retire_address(given.name_of("ptr"), address);
    Answer::nothing()
}

/// Free memory is compared by its change, because other programs of the machine take some too.
pub(super) fn get_info(process: &mut Process, _: Arguments<'_>) -> Answered {
    let free = process.driver.mem_get_info()?.free.get();
    let before = process.free.replace(free).unwrap_or(free);
    let delta = i128::from(free) - i128::from(before);
    Ok(Answer::out([("free_delta", json!(delta))]))
}
