//! Reservations, mappings and rights.

use serde_json::{Value as Json, json};

use super::error::GenerateError;
use super::picture::{GRANULE, Handle, Mapping, Reservation};
use super::writing::Writing;

/// An address that nobody reserved.
const NOWHERE: [&str; 4] = ["0x1000", "0x10000000", "0x7f0000000000", "0x7f1234560000"];

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let some = writing.process(process).reservations.iter().any(|reservation| !reservation.mappings.is_empty());
    match writing.random.below(40) {
        0..=6 => reserve(writing, process),
        7..=8 => reserve_wrongly(writing, process),
        9..=20 => map(writing, process),
        21..=23 => map_wrongly(writing, process),
        24..=31 if some => set_access(writing, process),
        24..=31 => map(writing, process),
        32..=36 => unmap(writing, process),
        _ => free(writing, process),
    }
}

/// One of the reservations, by its index.
pub(super) fn pick(writing: &mut Writing<'_>, process: u32) -> Option<(usize, Reservation)> {
    let reservations: Vec<_> = writing.process(process).reservations.iter().cloned().enumerate().collect();
    writing.random.pick(&reservations).cloned()
}

/// A place in a reservation.
pub(super) fn at(reservation: &Reservation, offset: u64) -> String {
    format!("${}+{offset}", reservation.name)
}

pub(super) fn reserve(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let size = GRANULE * writing.random.one([1, 2, 2, 4, 4, 8]);
    let alignment = writing.random.one([0, 0, 0, 4096, GRANULE, 2 * GRANULE, 32 * GRANULE]);
    let name = writing.name('v');
    if writing.name_by(process, "cuMemAddressReserve", json!({"size": size, "alignment": alignment}), &name)? {
        writing.process(process).reservations.push(Reservation { name, size, mappings: Vec::new() });
    }
    Ok(())
}

fn reserve_wrongly(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let mut arguments = json!({"size": 2 * GRANULE, "alignment": 0});
    match writing.random.below(6) {
        0..=2 => arguments["size"] = writing.random.one([0, 1, 4096, GRANULE + 4096, 3 * GRANULE / 2]).into(),
        3 => arguments["alignment"] = writing.random.one([3, 4097, 3 * GRANULE]).into(),
        4 => arguments["flags"] = writing.random.one([1, 2]).into(),
        _ => arguments["addr"] = writing.random.one(["0x1000", "0x10001000"]).into(),
    }
    let name = writing.name('v');
    writing.name_by(process, "cuMemAddressReserve", arguments, &name)?;
    Ok(())
}

fn pick_handle(writing: &mut Writing<'_>, process: u32, most: u64) -> Option<Handle> {
    let handles = writing.process(process).handles.iter();
    let fit: Vec<Handle> = handles.filter(|handle| handle.size <= most).cloned().collect();
    writing.random.pick(&fit).cloned()
}

/// Maps all of an allocation where it fits: free or not.
fn map(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((index, reservation)) = pick(writing, process) else { return reserve(writing, process) };
    let Some(handle) = pick_handle(writing, process, reservation.size) else { return Ok(()) };
    let places = (reservation.size - handle.size) / GRANULE + 1;
    let offset = GRANULE * writing.random.below(places);
    let arguments = json!({"ptr": at(&reservation, offset), "size": handle.size, "handle": format!("${}", handle.name), "offset": 0});
    if writing.say(process, "cuMemMap", arguments)? {
        let mapping = Mapping { offset, size: handle.size, memory: handle.memory, value: handle.value };
        writing.process(process).reservations[index].mappings.push(mapping);
        if writing.random.percent(65) {
            access(writing, process, &reservation, (offset, handle.size), "readwrite")?;
        }
    }
    Ok(())
}

fn map_wrongly(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((_, reservation)) = pick(writing, process) else { return reserve(writing, process) };
    let Some(handle) = pick_handle(writing, process, reservation.size) else { return Ok(()) };
    let mut arguments =
        json!({"ptr": at(&reservation, 0), "size": handle.size, "handle": format!("${}", handle.name), "offset": 0});
    match writing.random.below(9) {
        0 => arguments["size"] = 0.into(),
        1 => arguments["size"] = writing.random.one([4096, handle.size + GRANULE, handle.size - 4096]).into(),
        2 => arguments["offset"] = writing.random.one([1, 4096, GRANULE, handle.size]).into(),
        3 => {
            arguments["offset"] = 4096.into();
            arguments["size"] = 4096.into();
        }
        4 | 5 => arguments["ptr"] = at(&reservation, writing.random.one([1, 4096, 65_536])).into(),
        6 => arguments["flags"] = 1.into(),
        7 => arguments["ptr"] = writing.random.one(NOWHERE).into(),
        _ => arguments["handle"] = "0".into(),
    }
    writing.say(process, "cuMemMap", arguments)?;
    Ok(())
}

/// A range in a reservation: one of its mappings, all of it, or some piece that may cut mappings and touch holes.
pub(super) fn range(writing: &mut Writing<'_>, reservation: &Reservation) -> (u64, u64) {
    let granules = reservation.size / GRANULE;
    match (writing.random.below(12), writing.random.pick(&reservation.mappings).copied()) {
        (0..=7, Some(mapping)) => (mapping.offset, mapping.size),
        (8, Some(mapping)) => (mapping.offset, writing.random.one([4096, mapping.size - 4096, mapping.size / 2])),
        (9, Some(mapping)) => (mapping.offset + 4096, mapping.size - 4096),
        (10, _) => (0, reservation.size),
        (11, _) if writing.random.percent(30) => (0, 0),
        _ => {
            let first = writing.random.below(granules);
            (first * GRANULE, GRANULE * (1 + writing.random.below(granules - first)))
        }
    }
}

fn access(
    writing: &mut Writing<'_>,
    process: u32,
    reservation: &Reservation,
    (offset, size): (u64, u64),
    rights: &str,
) -> Result<(), GenerateError> {
    let device = match writing.process(process).current() {
        Some(context) => u64::from(writing.process(process).contexts[context].1),
        None => writing.random.below(writing.devices.into()),
    };
    let arguments = json!({"ptr": at(reservation, offset), "size": size, "desc": [{"device": device, "prot": rights}]});
    writing.say(process, "cuMemSetAccess", arguments)?;
    Ok(())
}

fn set_access(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((_, reservation)) = pick(writing, process) else { return Ok(()) };
    let (offset, size) = range(writing, &reservation);
    let rights = |writing: &mut Writing<'_>| writing.random.one(["readwrite", "readwrite", "read", "none"]);
    match writing.random.below(20) {
        0..=13 => {
            let rights = rights(writing);
            access(writing, process, &reservation, (offset, size), rights)
        }
        other => {
            let descriptions: Vec<Json> = match other {
                14 => Vec::new(),
                15 => vec![json!({"device": writing.random.one([7, -1]), "prot": "read"})],
                16 => vec![json!({"device": 0, "prot": "write2"})],
                17 => vec![json!({"device": 0, "prot": rights(writing)}), json!({"device": 7, "prot": "read"})],
                _ => (0..writing.devices).map(|device| json!({"device": device, "prot": rights(writing)})).collect(),
            };
            let ptr = if writing.random.percent(5) {
                writing.random.one(NOWHERE).to_owned()
            } else {
                at(&reservation, offset)
            };
            writing.say(process, "cuMemSetAccess", json!({"ptr": ptr, "size": size, "desc": descriptions}))?;
            Ok(())
        }
    }
}

fn unmap(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((index, reservation)) = pick(writing, process) else { return reserve(writing, process) };
    let (offset, size) = range(writing, &reservation);
    if writing.random.percent(4) {
        let ptr = writing.random.one(NOWHERE);
        writing.say(process, "cuMemUnmap", json!({"ptr": ptr, "size": size}))?;
        return Ok(());
    }
    if writing.say(process, "cuMemUnmap", json!({"ptr": at(&reservation, offset), "size": size}))? {
        let inside = |mapping: &Mapping| mapping.offset >= offset && mapping.offset + mapping.size <= offset + size;
        writing.process(process).reservations[index].mappings.retain(|mapping| !inside(mapping));
    }
    Ok(())
}

fn free(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some((index, reservation)) = pick(writing, process) else { return reserve(writing, process) };
    let whole = json!({"ptr": format!("${}", reservation.name), "size": reservation.size});
    let arguments = match writing.random.below(12) {
        0 => json!({"ptr": at(&reservation, 0), "size": writing.random.one([0, 4096, reservation.size + GRANULE])}),
        1 => json!({"ptr": at(&reservation, 4096), "size": reservation.size - 4096}),
        2 => json!({"ptr": writing.random.one(NOWHERE), "size": GRANULE}),
        _ => whole.clone(),
    };
    if writing.say(process, "cuMemAddressFree", arguments)? {
        writing.process(process).reservations.remove(index);
        // At once: later something else may be there.
        match writing.random.below(20) {
            0 => writing.say(process, "cuMemAddressFree", whole)?,
            1 => writing.say(process, "cuMemUnmap", whole)?,
            2 => writing.say(process, "cuMemGetAccess", json!({"ptr": whole["ptr"], "device": 0}))?,
            _ => true,
        };
    }
    Ok(())
}
