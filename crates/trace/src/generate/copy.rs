//! Fills, copies and launches. Each is waited for, so that no later step is a matter of timing.

use serde_json::{Value as Json, json};

use super::error::GenerateError;
use super::mapping::{at, pick, range};
use super::picture::{Allocation, GRANULE};
use super::writing::Writing;

/// A piece of memory that a step may touch.
struct Place {
    ptr: String,
    size: u64,
    /// Whether what it holds is known.
    written: bool,
}

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(20) {
        0..=5 => fill(writing, process),
        6..=11 => read(writing, process),
        12..=14 => write(writing, process),
        15..=16 => device_copy(writing, process),
        _ => launch(writing, process),
    }
}

/// Allocations that are still there.
fn allocations(writing: &mut Writing<'_>, process: u32) -> Vec<Allocation> {
    let all = writing.process(process).allocations.clone();
    all.into_iter().filter(|allocation| !writing.backings[allocation.memory].freed).collect()
}

fn place(writing: &mut Writing<'_>, process: u32) -> Option<Place> {
    let allocations = allocations(writing, process);
    if writing.random.percent(25)
        && let Some(allocation) = writing.random.pick(&allocations).cloned()
    {
        let start = writing.random.one([0, 0, 0, allocation.size / 2]);
        let written = writing.backings[allocation.memory].written;
        let size = allocation.size - start;
        return Some(Place { ptr: format!("${}+{start}", allocation.name), size, written });
    }
    let mut reservations = writing.process(process).reservations.clone();
    if !writing.random.percent(10) {
        reservations.retain(|reservation| !reservation.mappings.is_empty());
    }
    let reservation = writing.random.pick(&reservations)?;
    let (offset, size) = range(writing, reservation);
    Some(Place { ptr: at(reservation, offset), size, written: true })
}

/// All of it, or the beginning of it.
fn some(writing: &mut Writing<'_>, size: u64) -> u64 {
    let less = writing.random.one([size, size, 5000, 128, 1]);
    less.min(size)
}

fn fill(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = place(writing, process) else { return Ok(()) };
    let size = some(writing, place.size);
    let value = writing.random.below(256);
    writing.say(process, "cuMemsetD8", json!({"ptr": place.ptr, "value": value, "size": size}))?;
    writing.wait(process)
}

fn read(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = place(writing, process).filter(|place| place.written) else { return Ok(()) };
    let size = some(writing, place.size);
    writing.say(process, "cuMemcpyDtoH", json!({"ptr": place.ptr, "size": size}))?;
    Ok(())
}

fn write(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(place) = place(writing, process) else { return Ok(()) };
    let size = some(writing, place.size.min(2 * GRANULE));
    let value = writing.random.below(256);
    writing.say(process, "cuMemcpyHtoD", json!({"ptr": place.ptr, "size": size, "value": value}))?;
    writing.wait(process)
}

/// Where memory is, how much, and which: whether from `cuMemAlloc`, and its number.
type Piece = (String, u64, (bool, usize));

/// Between different memory: what a copy onto itself does is not defined.
fn device_copy(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let known = writing.process(process).reservations.iter();
    let mapped = known.flat_map(|reservation| {
        reservation
            .mappings
            .iter()
            .map(|mapping| (at(reservation, mapping.offset), mapping.size, (false, mapping.memory)))
    });
    let mut pieces: Vec<Piece> = mapped.collect();
    let mut own = allocations(writing, process);
    own.retain(|allocation| writing.backings[allocation.memory].written);
    pieces.extend(own.iter().map(|one| (format!("${}", one.name), one.size, (true, one.memory))));
    let dst = writing.random.pick(&pieces).cloned();
    let src = writing.random.pick(&pieces).cloned();
    let (Some((dst, most, into)), Some((src, least, from))) = (dst, src) else { return Ok(()) };
    if into == from {
        return Ok(());
    }
    let size = some(writing, most.min(least));
    let arguments = json!({"dst": dst, "src": src, "size": size});
    writing.say(process, "cuMemcpyDtoD", arguments)?;
    writing.wait(process)
}

/// Where a kernel may write: it faults where it may not.
fn target(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<Option<(String, u64)>, GenerateError> {
    let mut own = allocations(writing, process);
    own.retain(|allocation| allocation.context == context);
    if writing.random.percent(30)
        && let Some(allocation) = writing.random.pick(&own)
    {
        return Ok(Some((format!("${}", allocation.name), allocation.size)));
    }
    let Some((_, reservation)) = pick(writing, process) else { return Ok(None) };
    let Some(mapping) = writing.random.pick(&reservation.mappings).copied() else { return Ok(None) };
    let device = writing.process(process).contexts[context].1;
    let ptr = at(&reservation, mapping.offset);
    writing.say(process, "cuMemGetAccess", json!({"ptr": ptr, "device": device}))?;
    let may = writing.out("prot").and_then(Json::as_str) == Some("readwrite");
    Ok(may.then_some((ptr, mapping.size)))
}

fn launch(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(context) = writing.process(process).current() else { return Ok(()) };
    let Some((ptr, most)) = target(writing, process, context)? else { return Ok(()) };
    let size = some(writing, most);
    let value = writing.random.below(256);
    let mut arguments = json!({"kernel": "fill", "args": [["ptr", ptr], ["i32", size], ["u8", value]]});
    let mut streams = writing.process(process).streams.clone();
    streams.retain(|stream| stream.context == context);
    if let Some(stream) = writing.random.pick(&streams) {
        arguments["stream"] = format!("${}", stream.name).into();
    }
    writing.say(process, "cuLaunchKernel", arguments)?;
    writing.wait(process)
}
