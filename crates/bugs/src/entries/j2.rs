//! J2: a relative list of devices was taken for an absolute one, and no handle was found under the trainer's UUIDs.
//!
//! Whatever part of the devices a parent sees: a child whose mask counts from the parent's first device sees others, which is noticed
//! before anything is shared, with both lists; a child that is told UUIDs sees the parent's.

use std::collections::HashMap;

use peermap_driver::Uuid;
use peermap_scenario::devices_in_common;

use super::j1::{devices, peer};
use crate::expect::{holds, same};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let machine = stage.machine_or("default")?;
    let process = machine.process()?;
    process.needs_two_devices()?;
    let all = devices(&*process)?;
    for _ in 0..if stage.is_real() { 1 } else { 8 } {
        // The parent sees the devices behind some first ones, and gives its child so many of them.
        let hidden = random.usize(1..=all.len() / 2);
        let given = random.usize(1..=hidden.min(all.len() - hidden));
        let handles: HashMap<Uuid, usize> = all[hidden..].iter().copied().zip(0..).collect();
        let relative = peer(&machine, &all[..given])?.devices()??;
        let mismatch = devices_in_common(&all[hidden..], &relative);
        let told = mismatch.map_or_else(|error| error.to_string(), |common| format!("{common:?}"));
        let names = |uuid: &Uuid| told.contains(&format!("{uuid}"));
        holds("both lists are said", relative.iter().chain(&all[hidden..]).all(names), &told)?;
        holds("no handle is found", relative.iter().all(|uuid| !handles.contains_key(uuid)), &relative)?;
        let absolute = peer(&machine, &all[hidden..hidden + given])?.devices()??;
        same("what a child sees that is told UUIDs", &absolute[..], &all[hidden..hidden + given])?;
        same("its devices in common", devices_in_common(&all[hidden..], &absolute).map_or(0, |all| all.len()), given)?;
    }
    Ok(())
}
