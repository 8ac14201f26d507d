//! Reservations, mappings and access, and what an address points to.

use std::cell::Cell;

use peermap_driver::{AccessDesc, AccessFlags, DevicePtr, MemPool, PointerAttribute};
use serde_json::{Value as Json, json};

use super::memory::location;
use crate::player::arguments::{Arguments, wrong};
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::{Value, Values};

const PROTECTIONS: &[(&str, AccessFlags)] = &[
    ("none", AccessFlags::NONE),
    ("read", AccessFlags::READ),
    ("write2", AccessFlags(2)),
    ("readwrite", AccessFlags::READWRITE),
];

/// The recordings compare the alignment where one was asked for.
pub(super) fn reserve(process: &mut Process, given: Arguments<'_>) -> Answered {
    let size = given.size("size")?;
    let alignment = given.size_or_zero("alignment")?;
    let hint = given.address_or_null("addr", &process.values)?;
    let start = process.driver.mem_address_reserve(size, alignment, hint, given.number_or("flags", 0)?)?;
    let answer = if alignment.is_zero() {
        Answer::default()
    } else {
        Answer::out([("aligned", json!(start.get().is_multiple_of(alignment.get())))])
    };
    Ok(answer.with(Value::Address(start)))
}

pub(super) fn free(process: &mut Process, given: Arguments<'_>) -> Answered {
    let start = given.address("ptr", &process.values)?;
    process.driver.mem_address_free(start, given.size("size")?)?;
    process.values.retire_address(given.name_of("ptr"), start);
    Answer::nothing()
}

pub(super) fn map(process: &mut Process, given: Arguments<'_>) -> Answered {
    let start = given.address("ptr", &process.values)?;
    let handle = given.memory("handle", &process.values)?;
    let offset = given.size_or_zero("offset")?;
    process.driver.mem_map(start, given.size("size")?, offset, handle, given.number_or("flags", 0)?)?;
    Answer::nothing()
}

pub(super) fn unmap(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.mem_unmap(given.address("ptr", &process.values)?, given.size("size")?)?;
    Answer::nothing()
}

pub(super) fn set_access(process: &mut Process, given: Arguments<'_>) -> Answered {
    let start = given.address("ptr", &process.values)?;
    process.driver.mem_set_access(start, given.size("size")?, &descriptions(given)?)?;
    Answer::nothing()
}

/// Who is to get which rights.
pub(super) fn descriptions(given: Arguments<'_>) -> Result<Vec<AccessDesc>, PlayError> {
    given.list("desc")?.iter().map(description).collect()
}

fn description(json: &Json) -> Result<AccessDesc, PlayError> {
    let read = Cell::new(0);
    let given = Arguments::watched(json.as_object().ok_or_else(|| wrong("desc", json, "a list of objects"))?, &read);
    let name = given.text("prot")?;
    let known = PROTECTIONS.iter().find(|(known, _)| *known == name);
    let (_, flags) = known.ok_or_else(|| wrong("prot", json, "none, read, readwrite or write2"))?;
    let desc = AccessDesc { location: location(given)?, flags: *flags };
    match given.unread() {
        None => Ok(desc),
        Some(_) => Err(wrong("desc", json, "a list of objects with prot, device and location_type")),
    }
}

pub(super) fn get_access(process: &mut Process, given: Arguments<'_>) -> Answered {
    let address = given.address("ptr", &process.values)?;
    let flags = process.driver.mem_get_access(address, location(given)?)?;
    Ok(Answer::out([("prot", protection(flags))]))
}

/// Rights as the recordings write them.
pub(crate) fn protection(flags: AccessFlags) -> Json {
    match PROTECTIONS.iter().find(|(_, known)| *known == flags) {
        Some((name, _)) => json!(name),
        None => json!(flags.0),
    }
}

pub(super) fn get_range(process: &mut Process, given: Arguments<'_>) -> Answered {
    let (base, size) = process.driver.mem_get_address_range(given.address("ptr", &process.values)?)?;
    Ok(Answer::out([("base", json!(process.values.name_address(base))), ("size", json!(size.get()))]))
}

pub(super) fn get_attribute(process: &mut Process, given: Arguments<'_>) -> Answered {
    let attribute = pointer_attribute(given)?;
    let raw = process.driver.pointer_get_attribute(attribute, given.address("ptr", &process.values)?)?;
    Ok(Answer::out([("value", attribute_value(attribute, raw, &process.values))]))
}

/// What an address points to as the recordings write it.
pub(crate) fn attribute_value(attribute: PointerAttribute, raw: u64, values: &Values) -> Json {
    match attribute {
        PointerAttribute::RANGE_START_ADDR | PointerAttribute::DEVICE_POINTER => {
            json!(values.name_address(DevicePtr::new(raw)))
        }
        // SAFETY: the driver gave this pool out, and it is only compared.
        PointerAttribute::MEMPOOL_HANDLE => json!(values.same_pool(unsafe { MemPool::from_raw(raw) })),
        PointerAttribute::CONTEXT => json!(if raw == 0 { "zero" } else { "nonzero" }),
        _ => json!(raw),
    }
}

fn pointer_attribute(given: Arguments<'_>) -> Result<PointerAttribute, PlayError> {
    let name = given.text("attribute")?;
    PointerAttribute::from_name(name)
        .ok_or_else(|| wrong("attribute", &json!(name), "a pointer attribute without CU_POINTER_ATTRIBUTE_"))
}
