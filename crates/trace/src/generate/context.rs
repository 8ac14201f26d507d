//! Contexts.

use serde_json::{Value as Json, json};

use super::error::GenerateError;
use super::writing::Writing;

/// How many contexts a process may have at once: each takes a tenth of a second on hardware.
const MOST: usize = 2;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(12) {
        0..=1 => {
            let device = writing.random.below(writing.devices.into());
            create(writing, process, u32::try_from(device).unwrap_or(0))
        }
        2..=3 => set_current(writing, process),
        4 => push(writing, process),
        5 => pop(writing, process),
        6..=8 => {
            writing.say(process, "cuCtxGetCurrent", json!({}))?;
            Ok(())
        }
        9 => destroy(writing, process),
        _ => peers(writing, process),
    }
}

/// Makes a context, which is current then.
pub(super) fn create(writing: &mut Writing<'_>, process: u32, device: u32) -> Result<(), GenerateError> {
    if writing.process(process).alive.len() >= MOST {
        return Ok(());
    }
    let name = writing.name('c');
    if writing.name_by(process, "cuCtxCreate", json!({"device": device}), &name)? {
        let known = writing.process(process);
        let context = known.contexts.len();
        known.contexts.push((name, device));
        known.alive.push(context);
        known.stack.push(context);
    }
    Ok(())
}

fn pick(writing: &mut Writing<'_>, process: u32) -> Option<(usize, String)> {
    let alive = writing.process(process).alive.clone();
    let context = writing.random.pick(&alive).copied()?;
    Some((context, format!("${}", writing.process(process).contexts[context].0)))
}

fn set_current(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let picked = pick(writing, process).filter(|_| !writing.random.percent(25));
    let context = picked.as_ref().map_or(Json::Null, |(_, name)| name.as_str().into());
    if writing.say(process, "cuCtxSetCurrent", json!({"ctx": context}))? {
        let known = writing.process(process);
        known.stack.pop();
        known.stack.extend(picked.map(|(context, _)| context));
    }
    Ok(())
}

fn push(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((context, name)) = pick(writing, process) else { return Ok(()) };
    if writing.say(process, "cuCtxPushCurrent", json!({"ctx": name}))? {
        writing.process(process).stack.push(context);
    }
    Ok(())
}

fn pop(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    if writing.say(process, "cuCtxPopCurrent", json!({}))? {
        writing.process(process).stack.pop();
    }
    Ok(())
}

/// Destroys the current context, where it is current once only. What is left of it elsewhere would be of no use.
fn destroy(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let known = writing.process(process);
    let Some(context) = known.current() else { return Ok(()) };
    if known.stack.iter().filter(|stacked| **stacked == context).count() > 1 {
        return Ok(());
    }
    let name = format!("${}", known.contexts[context].0);
    if writing.say(process, "cuCtxDestroy", json!({"ctx": name}))? {
        let lost = writing.process(process).allocations.iter().filter(|allocation| allocation.context == context);
        let owned: Vec<usize> = lost.filter(|allocation| !allocation.opened).map(|lost| lost.memory).collect();
        owned.into_iter().for_each(|memory| writing.backings[memory].freed = true);
        writing.process(process).forget_context(context);
    }
    Ok(())
}

/// With one device there is no peer, and the answer says so.
fn peers(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((_, name)) = pick(writing, process) else { return Ok(()) };
    if writing.process(process).current().is_some() {
        let call = writing.random.one(["cuCtxEnablePeerAccess", "cuCtxEnablePeerAccess", "cuCtxDisablePeerAccess"]);
        writing.say(process, call, json!({"ctx": name}))?;
    }
    Ok(())
}
