//! Multicast: teams of devices.

use peermap_driver::MulticastObjectProp;
use serde_json::json;

use super::memory::option;
use crate::player::arguments::Arguments;
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Value;

fn properties(given: Arguments<'_>) -> Result<MulticastObjectProp, PlayError> {
    Ok(MulticastObjectProp {
        num_devices: given.number("num_devices")?,
        size: given.size("size")?,
        handle_types: given.handle_types("handle_types")?,
        flags: given.number_or("flags", 0)?,
    })
}

pub(super) fn create(process: &mut Process, given: Arguments<'_>) -> Answered {
    Answer::value(Value::Memory(process.driver.multicast_create(&properties(given)?)?))
}

pub(super) fn get_granularity(process: &mut Process, given: Arguments<'_>) -> Answered {
    let size = process.driver.multicast_get_granularity(&properties(given)?, option(given)?)?;
    Ok(Answer::out([("granularity", json!(size.get()))]))
}

pub(super) fn add_device(process: &mut Process, given: Arguments<'_>) -> Answered {
    let team = given.memory("mc_handle", &process.values)?;
    process.driver.multicast_add_device(team, given.device("device")?)?;
    Answer::nothing()
}

pub(super) fn bind_mem(process: &mut Process, given: Arguments<'_>) -> Answered {
    let team = given.memory("mc_handle", &process.values)?;
    let memory = given.memory("mem_handle", &process.values)?;
    let (to, from) = (given.size_or_zero("mc_offset")?, given.size_or_zero("mem_offset")?);
    process.driver.multicast_bind_mem(team, to, memory, from, given.size("size")?, given.number_or("flags", 0)?)?;
    Answer::nothing()
}

pub(super) fn bind_addr(process: &mut Process, given: Arguments<'_>) -> Answered {
    let team = given.memory("mc_handle", &process.values)?;
    let address = given.address("memptr", &process.values)?;
    let to = given.size_or_zero("mc_offset")?;
    process.driver.multicast_bind_addr(team, to, address, given.size("size")?, given.number_or("flags", 0)?)?;
    Answer::nothing()
}

pub(super) fn unbind(process: &mut Process, given: Arguments<'_>) -> Answered {
    let team = given.memory("mc_handle", &process.values)?;
    let device = given.device("device")?;
    process.driver.multicast_unbind(team, device, given.size_or_zero("mc_offset")?, given.size("size")?)?;
    Answer::nothing()
}
