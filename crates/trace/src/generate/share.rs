//! Descriptors, and the ends of processes.

use serde_json::json;

use super::error::GenerateError;
use super::mapping::{at, pick, range};
use super::physical::add;
use super::picture::{Descriptor, Handle};
use super::writing::Writing;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(24) {
        0..=7 => export(writing, process),
        8..=14 => import(writing, process),
        15 => import_wrongly(writing, process),
        16..=20 => send(writing, process),
        21 => open(writing, process),
        _ => close(writing, process),
    }
}

fn export(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let handles = writing.process(process).handles.clone();
    let Some(handle) = writing.random.pick(&handles) else { return Ok(()) };
    let mut arguments = json!({"handle": format!("${}", handle.name), "handle_type": "posix_fd"});
    match writing.random.below(20) {
        0 => arguments["handle_type"] = writing.random.one(["none", "win32", "win32_kmt"]).into(),
        1 => arguments["flags"] = 1.into(),
        2 => arguments["handle"] = "0".into(),
        _ => {}
    }
    let name = writing.name('f');
    if writing.name_by(process, "cuMemExportToShareableHandle", arguments, &name)? {
        let memory = Some((handle.memory, handle.size));
        writing.process(process).descriptors.push(Descriptor { name, memory, pool: None });
    }
    Ok(())
}

fn pick_descriptor(writing: &mut Writing<'_>, process: u32) -> Option<Descriptor> {
    let descriptors = writing.process(process).descriptors.clone();
    writing.random.pick(&descriptors).cloned()
}

fn import(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(descriptor) = pick_descriptor(writing, process) else { return export(writing, process) };
    let name = writing.name('h');
    let arguments = json!({"from": format!("${}", descriptor.name), "handle_type": "posix_fd"});
    if writing.name_by(process, "cuMemImportFromShareableHandle", arguments, &name)?
        && let Some((memory, size)) = descriptor.memory
    {
        add(writing, process, name, size, memory);
    }
    Ok(())
}

fn import_wrongly(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(descriptor) = pick_descriptor(writing, process) else { return Ok(()) };
    let mut arguments = json!({"from": format!("${}", descriptor.name), "handle_type": "posix_fd"});
    match writing.random.below(3) {
        0 => arguments["from"] = "0".into(),
        1 => arguments["handle_type"] = "none".into(),
        _ => arguments["handle_type"] = writing.random.one(["win32", "win32_kmt"]).into(),
    }
    let name = writing.name('h');
    writing.name_by(process, "cuMemImportFromShareableHandle", arguments, &name)?;
    Ok(())
}

/// A process that can take something.
pub(super) fn receiver(writing: &mut Writing<'_>, sender: u32) -> Option<u32> {
    let others = (0..).zip(&writing.processes).filter(|(number, other)| *number != sender && !other.ended);
    let others: Vec<u32> = others.map(|(number, _)| number).collect();
    writing.random.pick(&others).copied()
}

fn send(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(to) = receiver(writing, process) else { return import(writing, process) };
    let Some(descriptor) = pick_descriptor(writing, process) else { return export(writing, process) };
    let name = writing.name('f');
    let arguments = json!({"value": format!("${}", descriptor.name), "to": to});
    if writing.name_by(process, "send", arguments, &name)? {
        writing.process(to).descriptors.push(Descriptor { name, ..descriptor });
        if writing.random.percent(40) && writing.process(to).after_fault.is_none() {
            import(writing, to)?;
        }
    }
    Ok(())
}

fn open(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let name = writing.name('f');
    let kind = writing.random.one(["memfd", "null", "socket"]);
    if writing.name_by(process, "open_fd", json!({"kind": kind}), &name)? {
        writing.process(process).descriptors.push(Descriptor { name, memory: None, pool: None });
    }
    Ok(())
}

fn close(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(descriptor) = pick_descriptor(writing, process) else { return Ok(()) };
    let reference = format!("${}", descriptor.name);
    if writing.say(process, "close_fd", json!({"fd": reference}))? {
        writing.process(process).descriptors.retain(|other| other.name != descriptor.name);
        // At once: later another descriptor may have its number.
        match writing.random.below(10) {
            0 => {
                writing.say(process, "close_fd", json!({"fd": reference}))?;
            }
            1 => {
                let name = writing.name('h');
                let arguments = json!({"from": reference, "handle_type": "posix_fd"});
                writing.name_by(process, "cuMemImportFromShareableHandle", arguments, &name)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Retains what is mapped somewhere; the name joins those of the handle value that was used to map.
pub(super) fn retained(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((_, reservation)) = pick(writing, process) else { return Ok(()) };
    let (offset, _) = range(writing, &reservation);
    let offset = offset + writing.random.one([0, 0, 1, 4096]);
    let name = writing.name('h');
    let arguments = json!({"ptr": at(&reservation, offset)});
    let covers = |mapping: &&super::picture::Mapping| (mapping.offset..mapping.offset + mapping.size).contains(&offset);
    if writing.name_by(process, "cuMemRetainAllocationHandle", arguments, &name)?
        && let Some(mapping) = reservation.mappings.iter().find(covers)
    {
        let known = writing.process(process);
        known.counts[mapping.value] += 1;
        known.handles.push(Handle { name, size: mapping.size, memory: mapping.memory, value: mapping.value });
    }
    Ok(())
}

/// A process ends, if it is not the last one.
pub(super) fn end(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    if receiver(writing, process).is_some() {
        let call = writing.random.one(["exit", "kill"]);
        writing.say(process, call, json!({}))?;
        writing.process(process).ended = true;
    }
    Ok(())
}
