//! Memory from `cuMemAlloc`, and legacy handles to it.

use serde_json::json;

use super::error::GenerateError;
use super::mapping::{at, pick};
use super::picture::{Allocation, Backing, GRANULE, Legacy};
use super::share::receiver;
use super::writing::Writing;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(20) {
        0..=4 => alloc(writing, process),
        5..=9 => share(writing, process),
        10 => get_handle(writing, process),
        11 => send(writing, process),
        12..=14 => open(writing, process),
        15..=17 => close(writing, process),
        _ => free(writing, process),
    }
}

/// Most memory is filled at once: what it holds before is anybody's guess.
fn alloc(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let size = writing.random.one([GRANULE, GRANULE, 2 * GRANULE, 5000, 1000, 4096, 0]);
    let name = writing.name('a');
    if !writing.name_by(process, "cuMemAlloc", json!({"size": size}), &name)? {
        return Ok(());
    }
    let memory = writing.backings.len();
    writing.backings.push(Backing::default());
    let Some(context) = writing.process(process).current() else { return Ok(()) };
    writing.process(process).allocations.push(Allocation { name: name.clone(), size, memory, context, opened: false });
    if writing.random.percent(80) {
        let value = writing.random.below(256);
        let arguments = json!({"ptr": format!("${name}"), "value": value, "size": size});
        let filled = writing.say(process, "cuMemsetD8", arguments)?;
        writing.backings[memory].written = filled;
        writing.wait(process)?;
    }
    Ok(())
}

fn pick_allocation(writing: &mut Writing<'_>, process: u32, opened: bool) -> Option<Allocation> {
    let mut allocations = writing.process(process).allocations.clone();
    allocations.retain(|allocation| allocation.opened == opened);
    writing.random.pick(&allocations).cloned()
}

fn get_handle(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let name = writing.name('i');
    if writing.random.percent(15) {
        // What is mapped, and what was opened, has no handle.
        let reservation = pick(writing, process).map(|(_, reservation)| at(&reservation, 0));
        let opened = pick_allocation(writing, process, true).map(|opened| format!("${}", opened.name));
        if let Some(ptr) = opened.or(reservation) {
            writing.name_by(process, "cuIpcGetMemHandle", json!({"ptr": ptr}), &name)?;
        }
        return Ok(());
    }
    let Some(allocation) = pick_allocation(writing, process, false) else { return alloc(writing, process) };
    let offset = writing.random.one([0, 0, 0, allocation.size / 2]);
    let arguments = json!({"ptr": format!("${}+{offset}", allocation.name)});
    if writing.name_by(process, "cuIpcGetMemHandle", arguments, &name)? {
        let Allocation { size, memory, .. } = allocation;
        writing.process(process).legacy.push(Legacy { name, size, memory });
    }
    Ok(())
}

fn pick_handle(writing: &mut Writing<'_>, process: u32) -> Option<Legacy> {
    let handles = writing.process(process).legacy.clone();
    writing.random.pick(&handles).cloned()
}

fn send(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(to) = receiver(writing, process) else { return Ok(()) };
    let Some(handle) = pick_handle(writing, process) else { return get_handle(writing, process) };
    let name = writing.name('i');
    let arguments = json!({"value": format!("${}", handle.name), "to": to});
    if writing.name_by(process, "send", arguments, &name)? {
        writing.process(to).legacy.push(Legacy { name, ..handle });
    }
    Ok(())
}

/// A handle on its way: made, sent and opened at the other end.
fn share(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(to) = receiver(writing, process) else { return get_handle(writing, process) };
    let Some(allocation) = pick_allocation(writing, process, false) else { return alloc(writing, process) };
    let (made, sent, opened) = (writing.name('i'), writing.name('i'), writing.name('b'));
    let Allocation { name, size, memory, .. } = allocation;
    if writing.name_by(process, "cuIpcGetMemHandle", json!({"ptr": format!("${name}")}), &made)?
        && writing.name_by(process, "send", json!({"value": format!("${made}"), "to": to}), &sent)?
        && !writing.backings[memory].freed
        && writing.process(to).after_fault.is_none()
    {
        writing.process(to).legacy.push(Legacy { name: sent.clone(), size, memory });
        let is_open = writing.name_by(to, "cuIpcOpenMemHandle", json!({"handle": format!("${sent}")}), &opened)?;
        if is_open && let Some(context) = writing.process(to).current() {
            writing.process(to).allocations.push(Allocation { name: opened, size, memory, context, opened: true });
        }
    }
    Ok(())
}

/// Memory that was freed is not opened: something else may be in its place.
fn open(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(handle) = pick_handle(writing, process) else { return get_handle(writing, process) };
    if writing.backings[handle.memory].freed {
        return Ok(());
    }
    let mut arguments = json!({"handle": format!("${}", handle.name)});
    if writing.random.percent(10) {
        arguments["flags"] = writing.random.one([0, 2, 3, 5, 9]).into();
    }
    let name = writing.name('b');
    if writing.name_by(process, "cuIpcOpenMemHandle", arguments, &name)?
        && let Some(context) = writing.process(process).current()
    {
        let Legacy { size, memory, .. } = handle;
        writing.process(process).allocations.push(Allocation { name, size, memory, context, opened: true });
    }
    Ok(())
}

fn close(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(opened) = pick_allocation(writing, process, true) else { return open(writing, process) };
    let whole = json!({"ptr": format!("${}", opened.name)});
    match writing.random.below(10) {
        0 => {
            writing.say(process, "cuIpcCloseMemHandle", json!({"ptr": format!("${}+64", opened.name)}))?;
            return Ok(());
        }
        1 => {
            writing.say(process, "cuMemFree", whole)?;
            return Ok(());
        }
        _ => {}
    }
    if writing.say(process, "cuIpcCloseMemHandle", whole.clone())? {
        writing.process(process).allocations.retain(|other| other.name != opened.name);
        // At once: later something else may be there. What is still open by another name is closed under that name.
        let is_open =
            writing.process(process).allocations.iter().any(|other| other.opened && other.memory == opened.memory);
        if !is_open && writing.random.percent(20) {
            writing.say(process, "cuIpcCloseMemHandle", whole)?;
        }
    }
    Ok(())
}

fn free(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(allocation) = pick_allocation(writing, process, false) else { return alloc(writing, process) };
    let whole = json!({"ptr": format!("${}", allocation.name)});
    match writing.random.below(10) {
        0 => {
            writing.say(process, "cuMemFree", json!({"ptr": format!("${}+64", allocation.name)}))?;
            return Ok(());
        }
        1 => {
            writing.say(process, "cuIpcCloseMemHandle", whole)?;
            return Ok(());
        }
        2 => {
            // Until a synchronisation has seen it through, the memory can be used, and a second free hangs the driver.
            if writing.say(process, "cuMemFreeAsync", whole)? {
                writing.say(process, "cuCtxSynchronize", json!({}))?;
                writing.backings[allocation.memory].freed = true;
                writing.process(process).allocations.retain(|other| other.name != allocation.name);
            }
            return Ok(());
        }
        _ => {}
    }
    if writing.say(process, "cuMemFree", whole.clone())? {
        writing.backings[allocation.memory].freed = true;
        writing.process(process).allocations.retain(|other| other.name != allocation.name);
        if writing.random.percent(20) {
            writing.say(process, "cuMemFree", whole)?;
        }
    }
    Ok(())
}
