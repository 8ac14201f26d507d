//! Start, devices and contexts.

use peermap_driver::{Context, DeviceAttribute};
use serde_json::json;

use crate::player::arguments::{Arguments, wrong};
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Value;

pub(super) fn init(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.init(given.number_or("flags", 0)?)?;
    Answer::nothing()
}

pub(super) fn device_get_count(process: &mut Process, _: Arguments<'_>) -> Answered {
    let count = process.driver.device_get_count()?;
    Ok(Answer::out([("count", json!(count))]))
}

pub(super) fn device_get_attribute(process: &mut Process, given: Arguments<'_>) -> Answered {
    let attribute = device_attribute(given)?;
    let value = process.driver.device_get_attribute(attribute, given.device("device")?)?;
    Ok(Answer::out([("value", json!(value))]))
}

fn device_attribute(given: Arguments<'_>) -> Result<DeviceAttribute, PlayError> {
    let name = given.text("attribute")?;
    DeviceAttribute::from_name(name)
        .ok_or_else(|| wrong("attribute", &json!(name), "a device attribute without CU_DEVICE_ATTRIBUTE_"))
}

pub(super) fn device_can_access_peer(process: &mut Process, given: Arguments<'_>) -> Answered {
    let can = process.driver.device_can_access_peer(given.device("device")?, given.device("peer")?)?;
    Ok(Answer::out([("value", json!(u8::from(can)))]))
}

pub(super) fn create(process: &mut Process, given: Arguments<'_>) -> Answered {
    let context = process.driver.ctx_create(given.number_or("flags", 0)?, given.device("device")?)?;
    Answer::value(Value::Context(context))
}

pub(super) fn destroy(process: &mut Process, given: Arguments<'_>) -> Answered {
    let context = given.context_handle("ctx", &process.values)?;
    process.driver.ctx_destroy(context)?;
    process.forget_context(given.name_of("ctx"), context);
    Answer::nothing()
}

pub(super) fn set_current(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.ctx_set_current(given.context("ctx", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn get_current(process: &mut Process, _: Arguments<'_>) -> Answered {
    let context = process.driver.ctx_get_current()?;
    Ok(same_as(process, context))
}

pub(super) fn push_current(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.ctx_push_current(given.context_handle("ctx", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn pop_current(process: &mut Process, _: Arguments<'_>) -> Answered {
    let context = process.driver.ctx_pop_current()?;
    Ok(same_as(process, Some(context)))
}

fn same_as(process: &Process, context: Option<Context>) -> Answer {
    let names = context.map_or_else(Vec::new, |context| process.values.same_context(context));
    let answer = Answer::out([("same_as", json!(names))]);
    match context {
        Some(context) => answer.with(Value::Context(context)),
        None => answer,
    }
}

pub(super) fn synchronize(process: &mut Process, _: Arguments<'_>) -> Answered {
    process.driver.ctx_synchronize()?;
    Answer::nothing()
}

pub(super) fn enable_peer_access(process: &mut Process, given: Arguments<'_>) -> Answered {
    let peer = given.context_handle("ctx", &process.values)?;
    process.driver.ctx_enable_peer_access(peer, given.number_or("flags", 0)?)?;
    Answer::nothing()
}

pub(super) fn disable_peer_access(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.ctx_disable_peer_access(given.context_handle("ctx", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn primary_retain(process: &mut Process, given: Arguments<'_>) -> Answered {
    let context = process.driver.device_primary_ctx_retain(given.device("device")?)?;
    Answer::value(Value::Context(context))
}
