//! Kernels that reach what is not there.

use serde_json::json;

use super::error::GenerateError;
use super::mapping::{at, pick};
use super::picture::GRANULE;
use super::writing::Writing;

/// How many more steps a process makes after a fault.
const STEPS_AFTER: u32 = 5;

/// A kernel writes to the first granule of a reservation where nothing is mapped.
pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    if writing.process(process).current().is_none() {
        return Ok(());
    }
    let Some((_, reservation)) = pick(writing, process) else { return Ok(()) };
    let covered = |offset: u64| {
        let mut mappings = reservation.mappings.iter();
        mappings.any(|mapping| (mapping.offset..mapping.offset + mapping.size).contains(&offset))
    };
    let Some(hole) = (0..reservation.size / GRANULE).map(|granule| granule * GRANULE).find(|at| !covered(*at)) else {
        return Ok(());
    };
    let arguments = json!({"kernel": "fill", "args": [["ptr", at(&reservation, hole)], ["i32", 64], ["u8", 1]]});
    writing.say(process, "cuLaunchKernel", arguments)?;
    writing.say(process, "cuCtxSynchronize", json!({}))?;
    writing.process(process).after_fault = Some(STEPS_AFTER);
    Ok(())
}

/// Contexts are dead, virtual memory calls go on.
pub(super) fn after(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(10) {
        0 => {
            writing.say(process, "cuCtxSynchronize", json!({}))?;
        }
        8 => {
            let name = writing.name('w');
            writing.name_by(process, "cuMemAllocAsync", json!({"size": GRANULE}), &name)?;
        }
        1 => {
            let name = writing.name('a');
            writing.name_by(process, "cuMemAlloc", json!({"size": GRANULE}), &name)?;
        }
        2 => {
            let name = writing.name('h');
            let arguments = json!({"size": GRANULE, "device": 0, "handle_types": "posix_fd"});
            writing.name_by(process, "cuMemCreate", arguments, &name)?;
        }
        3 => super::mapping::reserve(writing, process)?,
        4 => {
            let name = writing.name('c');
            writing.name_by(process, "cuCtxCreate", json!({"device": 0}), &name)?;
        }
        5 | 6 => {
            if let Some((_, reservation)) = pick(writing, process) {
                let ptr = at(&reservation, 0);
                match writing.random.below(3) {
                    0 => writing.say(process, "cuMemGetAddressRange", json!({"ptr": ptr}))?,
                    1 => writing.say(process, "cuMemGetAccess", json!({"ptr": ptr, "device": 0}))?,
                    _ => {
                        let name = writing.name('i');
                        writing.name_by(process, "cuIpcGetMemHandle", json!({"ptr": ptr}), &name)?
                    }
                };
            }
        }
        _ => {
            if let Some((_, reservation)) = pick(writing, process) {
                writing.say(process, "cuMemcpyDtoH", json!({"ptr": at(&reservation, 0), "size": 64}))?;
            }
        }
    }
    let known = writing.process(process);
    known.after_fault = known.after_fault.map(|left| left.saturating_sub(1));
    known.ended |= known.after_fault == Some(0);
    Ok(())
}
