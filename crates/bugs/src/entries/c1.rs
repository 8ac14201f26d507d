//! C1: a cache by address gave an old mapping for a new allocation at the same address.
//!
//! Memory is freed and allocated until addresses come again. Each time handle and buffer id are others than before, the handle of
//! what is gone opens nothing, and the new one opens the new bytes.

use std::collections::HashMap;

use peermap_driver::{Call, Device, DevicePtr, IpcMemHandle, PointerAttribute};
use peermap_model::{Policy, Profile, rules};
use peermap_sim::MachineOptions;

use crate::expect::{differ, refused, same};
use crate::machine::Machine;
use crate::process::times;
use crate::stage::{OPTIONS, Stage};
use crate::trouble::Trouble;

/// How often memory is allocated.
const ROUNDS: u8 = 40;

/// What was at an address before.
struct Before {
    handle: IpcMemHandle,
    id: u64,
}

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let machine = recycling(stage, random.u64(..))?;
    let process = machine.process()?;
    process.context(0)?;
    let mut reader = machine.peer()?;
    reader.context(Device(0))??;
    let granule = process.granule()?;
    let mut known: HashMap<DevicePtr, Before> = HashMap::new();
    let mut recycled = 0;
    for round in 0..ROUNDS {
        let size = times(granule, random.u64(1..=3));
        let ptr = process.mem_alloc(size)?;
        process.memset_d8(ptr, round, size)?;
        process.ctx_synchronize()?;
        let handle = process.ipc_get_mem_handle(ptr)?;
        let id = process.pointer_get_attribute(PointerAttribute::BUFFER_ID, ptr)?;
        if let Some(before) = known.insert(ptr, Before { handle, id }) {
            recycled += 1;
            differ("the handle at an address that came again", handle, before.handle)?;
            differ("the buffer id at an address that came again", id, before.id)?;
        }
        let opened = reader.open(&handle)??;
        same("what opens", reader.read(opened, 64)??, vec![round; 64])?;
        reader.close(opened)??;
        process.mem_free(ptr)?;
        refused("cuIpcOpenMemHandle of what is gone", reader.open(&handle)?, &rules::LEGACY_5)?
            .naming(Call::cuMemFree)?;
    }
    match (recycled, stage.is_real()) {
        (0, true) => Err(Trouble::not_here("this driver gave no address a second time")),
        (0, false) => same("addresses that came again", recycled, 1),
        _ => Ok(()),
    }
}

/// The machine of this host, or one that gives addresses again as soon as it can.
fn recycling(stage: &Stage, seed: u64) -> Result<Machine<'_>, Trouble> {
    if stage.is_real() {
        return stage.machine();
    }
    let options = MachineOptions { policy: Policy::Hostile { seed }, ..OPTIONS };
    stage.simulating(Profile::named("h200-x2")?, options)
}
