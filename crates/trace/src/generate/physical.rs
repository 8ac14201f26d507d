//! Physical memory.

use serde_json::json;

use super::error::GenerateError;
use super::picture::{GRANULE, Handle};
use super::writing::Writing;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(20) {
        0..=8 => create(writing, process),
        9..=11 => create_wrongly(writing, process),
        12..=16 => release(writing, process),
        _ => properties(writing, process),
    }
}

fn create(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let size = GRANULE * writing.random.one([1, 1, 1, 2, 2, 3, 4]);
    let device = writing.random.below(writing.devices.into());
    let types = writing.random.one(["posix_fd", "posix_fd", "posix_fd", "none"]);
    let name = writing.name('h');
    let arguments = json!({"size": size, "device": device, "handle_types": types});
    if writing.name_by(process, "cuMemCreate", arguments, &name)? {
        let memory = writing.memory();
        add(writing, process, name, size, memory);
    }
    Ok(())
}

/// Notes a handle of a new value.
pub(super) fn add(writing: &mut Writing<'_>, process: u32, name: String, size: u64, memory: usize) {
    let known = writing.process(process);
    let value = known.counts.len();
    known.counts.push(1);
    known.handles.push(Handle { name, size, memory, value });
}

fn create_wrongly(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let name = writing.name('h');
    let mut arguments = json!({"size": GRANULE, "device": 0, "handle_types": "posix_fd"});
    match writing.random.below(8) {
        0..=3 => arguments["size"] = writing.random.one([0, 1, 4096, 65_536, GRANULE - 1, GRANULE + 4096]).into(),
        4 => arguments["device"] = writing.random.one([-1, 7, 64]).into(),
        5 => arguments["flags"] = writing.random.one([1, 2, 0x80]).into(),
        6 => arguments["type"] = writing.random.one([0, 2, 7]).into(),
        _ => arguments["handle_types"] = writing.random.one(["win32", "win32_kmt"]).into(),
    }
    writing.name_by(process, "cuMemCreate", arguments, &name)?;
    Ok(())
}

fn release(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let handles = writing.process(process).handles.clone();
    let Some(handle) = writing.random.pick(&handles).cloned() else {
        return create(writing, process);
    };
    release_one(writing, process, &handle)?;
    // Once more, at once: later another handle could have the same value. A release too many takes the name of another.
    if writing.random.percent(10) {
        release_one(writing, process, &handle)?;
    }
    if writing.random.percent(writing.weights.crashes.into()) {
        let arguments = json!({"handle": format!("${}", handle.name)});
        writing.say(process, "cuMemGetAllocationPropertiesFromHandle", arguments)?;
    }
    Ok(())
}

fn release_one(writing: &mut Writing<'_>, process: u32, handle: &Handle) -> Result<(), GenerateError> {
    if writing.say(process, "cuMemRelease", json!({"handle": format!("${}", handle.name)}))? {
        writing.process(process).released(Some(&handle.name), handle.value);
    }
    Ok(())
}

fn properties(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let handles = writing.process(process).handles.clone();
    let handle = match writing.random.pick(&handles) {
        Some(handle) if !writing.random.percent(5) => format!("${}", handle.name),
        _ => "0".to_owned(),
    };
    writing.say(process, "cuMemGetAllocationPropertiesFromHandle", json!({"handle": handle}))?;
    Ok(())
}
