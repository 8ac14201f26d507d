//! Multicast: teams of devices of one process, and memory that they bind.
//!
//! What waits for a whole team is asked only where the team is complete, and what the manual leaves undefined never.

use serde_json::json;

use super::error::GenerateError;
use super::picture::{GRANULE, Team};
use super::writing::Writing;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(20) {
        0 => granularity(writing, process),
        1..=2 => create(writing, process),
        3..=4 => create_wrongly(writing, process),
        5..=8 => add(writing, process),
        9..=10 => add_wrongly(writing, process),
        11..=14 => bind(writing, process),
        15..=16 => bind_wrongly(writing, process),
        17..=18 => unbind(writing, process),
        _ => release(writing, process),
    }
}

fn granularity(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let option = writing.random.one(["minimum", "recommended"]);
    let devices = writing.random.one([0, 1, 2]);
    let arguments = json!({"num_devices": devices, "size": GRANULE, "option": option});
    writing.say(process, "cuMulticastGetGranularity", arguments)?;
    Ok(())
}

fn create(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let wanted = writing.random.below(writing.devices.into()) + 1;
    let size = GRANULE * writing.random.one([1, 2, 4]);
    let types = writing.random.one(["posix_fd", "none"]);
    let name = writing.name('t');
    let arguments = json!({"num_devices": wanted, "size": size, "handle_types": types});
    if writing.name_by(process, "cuMulticastCreate", arguments, &name)? {
        let team = Team { name, size, wanted, devices: Vec::new(), bound: Vec::new() };
        writing.process(process).teams.push(team);
    }
    Ok(())
}

fn create_wrongly(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let name = writing.name('t');
    let mut arguments = json!({"num_devices": 1, "size": GRANULE, "handle_types": "posix_fd"});
    match writing.random.below(5) {
        0..=1 => arguments["size"] = writing.random.one([0, 1, 65_536, GRANULE + 4096]).into(),
        2 => arguments["num_devices"] = 0.into(),
        3 => arguments["flags"] = writing.random.one([1, 0x80]).into(),
        _ => arguments["handle_types"] = writing.random.one(["win32", "win32_kmt"]).into(),
    }
    writing.name_by(process, "cuMulticastCreate", arguments, &name)?;
    Ok(())
}

/// One of the teams of a process, by its place among them.
fn any_team(writing: &mut Writing<'_>, process: u32) -> Option<usize> {
    let teams: Vec<usize> = (0..writing.process(process).teams.len()).collect();
    writing.random.pick(&teams).copied()
}

/// Adds a device that the team has not.
fn add(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = any_team(writing, process) else { return create(writing, process) };
    let team = writing.process(process).teams[place].clone();
    let missing: Vec<u64> = (0..u64::from(writing.devices)).filter(|device| !team.devices.contains(device)).collect();
    let Some(device) = writing.random.pick(&missing).copied() else { return bind(writing, process) };
    let arguments = json!({"mc_handle": format!("${}", team.name), "device": device});
    if writing.say(process, "cuMulticastAddDevice", arguments)? {
        writing.process(process).teams[place].devices.push(device);
    }
    Ok(())
}

fn add_wrongly(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = any_team(writing, process) else { return create(writing, process) };
    let team = writing.process(process).teams[place].clone();
    let handles = writing.process(process).handles.clone();
    let arguments = match (writing.random.below(3), team.devices.first(), handles.first()) {
        (0, Some(device), _) => json!({"mc_handle": format!("${}", team.name), "device": device}),
        (1, _, Some(handle)) => json!({"mc_handle": format!("${}", handle.name), "device": 0}),
        _ => json!({"mc_handle": format!("${}", team.name), "device": writing.random.one([-1, 64])}),
    };
    writing.say(process, "cuMulticastAddDevice", arguments)?;
    Ok(())
}

/// Memory of a device, with a handle that nothing else knows.
fn memory(writing: &mut Writing<'_>, process: u32, device: u64, types: &str) -> Result<Option<String>, GenerateError> {
    let name = writing.name('h');
    let arguments = json!({"size": GRANULE, "device": device, "handle_types": types});
    Ok(writing.name_by(process, "cuMemCreate", arguments, &name)?.then_some(name))
}

fn bind(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = any_team(writing, process) else { return create(writing, process) };
    let team = writing.process(process).teams[place].clone();
    if !team.is_complete() {
        return add(writing, process);
    }
    let offsets = (0..team.size / GRANULE).map(|piece| piece * GRANULE);
    let free: Vec<(u64, u64)> = offsets
        .flat_map(|offset| team.devices.iter().map(move |device| (*device, offset)))
        .filter(|slot| !team.bound.contains(slot))
        .collect();
    let Some((device, offset)) = writing.random.pick(&free).copied() else { return unbind(writing, process) };
    let Some(memory) = memory(writing, process, device, "posix_fd")? else { return Ok(()) };
    let arguments = json!({
        "mc_handle": format!("${}", team.name), "mc_offset": offset, "mem_handle": format!("${memory}"), "size": GRANULE
    });
    if writing.say(process, "cuMulticastBindMem", arguments)? {
        writing.process(process).teams[place].bound.push((device, offset));
    }
    // What is bound needs no handle.
    writing.say(process, "cuMemRelease", json!({"handle": format!("${memory}")}))?;
    Ok(())
}

fn bind_wrongly(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = any_team(writing, process) else { return create(writing, process) };
    let team = writing.process(process).teams[place].clone();
    let Some(device) = team.devices.first().copied().filter(|_| team.is_complete()) else {
        return add(writing, process);
    };
    let Some(memory) = memory(writing, process, device, "posix_fd")? else { return Ok(()) };
    let mut arguments = json!({
        "mc_handle": format!("${}", team.name), "mc_offset": 0, "mem_handle": format!("${memory}"), "size": GRANULE
    });
    match writing.random.below(6) {
        0 => arguments["flags"] = 1.into(),
        1 => arguments["size"] = writing.random.one([0, 4096, GRANULE + 4096]).into(),
        2 => arguments["mc_offset"] = writing.random.one([4096, team.size, 64 * GRANULE]).into(),
        3 => arguments["mem_offset"] = writing.random.one([4096, GRANULE]).into(),
        4 => arguments["mem_handle"] = format!("${}", team.name).into(),
        _ => arguments["mem_handle"] = 0.into(),
    }
    writing.say(process, "cuMulticastBindMem", arguments)?;
    writing.say(process, "cuMemRelease", json!({"handle": format!("${memory}")}))?;
    Ok(())
}

fn unbind(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = any_team(writing, process) else { return create(writing, process) };
    let team = writing.process(process).teams[place].clone();
    let Some(bound) = writing.random.pick(&team.bound).copied() else { return add(writing, process) };
    let (device, offset) = bound;
    let arguments =
        json!({"mc_handle": format!("${}", team.name), "device": device, "mc_offset": offset, "size": GRANULE});
    if writing.say(process, "cuMulticastUnbind", arguments)? {
        writing.process(process).teams[place].bound.retain(|other| *other != bound);
    }
    Ok(())
}

fn release(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = any_team(writing, process) else { return create(writing, process) };
    let name = writing.process(process).teams[place].name.clone();
    if writing.say(process, "cuMemRelease", json!({"handle": format!("${name}")}))? {
        writing.process(process).teams.remove(place);
    }
    Ok(())
}
