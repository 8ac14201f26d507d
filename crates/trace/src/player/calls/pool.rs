//! Memory pools.

use peermap_driver::{AllocationType, MemPool, MemPoolAttribute, MemPoolProps};
use serde_json::json;

use super::address::{descriptions, protection};
use super::memory::location;
use super::os::refusal;
use super::share::{shareable, value_of};
use crate::player::arguments::{Arguments, wrong};
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Value;

pub(super) fn alloc(process: &mut Process, given: Arguments<'_>) -> Answered {
    let stream = given.stream_or_null("stream", &process.values)?;
    Answer::value(Value::Address(process.driver.mem_alloc_async(given.size("size")?, stream)?))
}

pub(super) fn alloc_from_pool(process: &mut Process, given: Arguments<'_>) -> Answered {
    let pool = given.pool("pool", &process.values)?;
    let stream = given.stream_or_null("stream", &process.values)?;
    let address = process.driver.mem_alloc_from_pool_async(given.size("size")?, pool, stream)?;
    Answer::value(Value::Address(address))
}

pub(super) fn free(process: &mut Process, given: Arguments<'_>) -> Answered {
    let address = given.address("ptr", &process.values)?;
    process.driver.mem_free_async(address, given.stream_or_null("stream", &process.values)?)?;
    process.values.retire_address(given.name_of("ptr"), address);
    Answer::nothing()
}

pub(super) fn get_default(process: &mut Process, given: Arguments<'_>) -> Answered {
    let pool = process.driver.device_get_default_mem_pool(given.device("device")?)?;
    Ok(same_as(process, pool))
}

pub(super) fn get_current(process: &mut Process, given: Arguments<'_>) -> Answered {
    let pool = process.driver.device_get_mem_pool(given.device("device")?)?;
    Ok(same_as(process, pool))
}

fn same_as(process: &Process, pool: MemPool) -> Answer {
    Answer::out([("same_as", json!(process.values.same_pool(pool)))]).with(Value::Pool(pool))
}

pub(super) fn set_current(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.device_set_mem_pool(given.device("device")?, given.pool("pool", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn create(process: &mut Process, given: Arguments<'_>) -> Answered {
    let props = MemPoolProps {
        allocation_type: AllocationType(given.number_or("type", 1)?),
        handle_types: given.handle_types("handle_types")?,
        location: location(given)?,
        max_size: given.size_or_zero("max_size")?,
        usage: 0,
    };
    Answer::value(Value::Pool(process.driver.mem_pool_create(&props)?))
}

pub(super) fn destroy(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.mem_pool_destroy(given.pool("pool", &process.values)?)?;
    if let Some(name) = given.name_of("pool") {
        process.values.retire(name);
    }
    Answer::nothing()
}

pub(super) fn get_attribute(process: &mut Process, given: Arguments<'_>) -> Answered {
    let value = process.driver.mem_pool_get_attribute(given.pool("pool", &process.values)?, attribute(given)?)?;
    Ok(Answer::out([("value", json!(value))]))
}

pub(super) fn set_attribute(process: &mut Process, given: Arguments<'_>) -> Answered {
    let pool = given.pool("pool", &process.values)?;
    process.driver.mem_pool_set_attribute(pool, attribute(given)?, given.number("value")?)?;
    Answer::nothing()
}

fn attribute(given: Arguments<'_>) -> Result<MemPoolAttribute, PlayError> {
    let name = given.text("attribute")?;
    MemPoolAttribute::from_name(name)
        .ok_or_else(|| wrong("attribute", &json!(name), "a pool attribute without CU_MEMPOOL_ATTR_"))
}

pub(super) fn trim_to(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.mem_pool_trim_to(given.pool("pool", &process.values)?, given.size("size")?)?;
    Answer::nothing()
}

pub(super) fn set_access(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.mem_pool_set_access(given.pool("pool", &process.values)?, &descriptions(given)?)?;
    Answer::nothing()
}

pub(super) fn get_access(process: &mut Process, given: Arguments<'_>) -> Answered {
    let flags = process.driver.mem_pool_get_access(given.pool("pool", &process.values)?, location(given)?)?;
    Ok(Answer::out([("prot", protection(flags))]))
}

pub(super) fn export(process: &mut Process, given: Arguments<'_>) -> Answered {
    let pool = given.pool("pool", &process.values)?;
    let kind = given.handle_types("handle_type")?;
    let exported = process.driver.mem_pool_export_to_shareable_handle(pool, kind, given.number_or("flags", 0)?)?;
    Answer::value(shareable(exported))
}

pub(super) fn import(process: &mut Process, given: Arguments<'_>) -> Answered {
    let from = given.os_handle("from", &process.values)?;
    let kind = given.handle_types("handle_type")?;
    let pool = process.driver.mem_pool_import_from_shareable_handle(from, kind, given.number_or("flags", 0)?)?;
    Ok(same_as(process, pool))
}

pub(super) fn export_pointer(process: &mut Process, given: Arguments<'_>) -> Answered {
    let share_data = process.driver.mem_pool_export_pointer(given.address("ptr", &process.values)?)?;
    Answer::value(Value::PoolPointer(share_data))
}

pub(super) fn import_pointer(process: &mut Process, given: Arguments<'_>) -> Answered {
    let pool = given.pool("pool", &process.values)?;
    let Value::PoolPointer(share_data) = value_of(process, given, "share_data")? else {
        return Err(refusal(given, "share_data", "what cuMemPoolExportPointer gave, by name").into());
    };
    let address = process.driver.mem_pool_import_pointer(pool, share_data)?;
    let names = process.values.same_address(address);
    Ok(Answer::out([("same_as", json!(names))]).with(Value::Address(address)))
}
