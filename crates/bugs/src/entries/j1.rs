//! J1: the exporter's device number was used by the importer, which sees other devices under that number, or none.
//!
//! For random masks on both sides: a number of the other side is another device here, or no device at all, which the driver says; by its
//! UUID the device is found under its number here, and a context on it works.

use peermap_driver::{Device, Driver, DriverError, Uuid};
use peermap_model::rules;
use peermap_scenario::devices_in_common;

use crate::expect::{refused, same};
use crate::machine::Machine;
use crate::peer::Peer;
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let machine = stage.machine_or("default")?;
    let process = machine.process()?;
    process.needs_two_devices()?;
    let all = devices(&*process)?;
    for _ in 0..if stage.is_real() { 2 } else { 12 } {
        let masks = [mask(&all, &mut random), mask(&all, &mut random)];
        let [mut exporter, mut importer] = [peer(&machine, &masks[0])?, peer(&machine, &masks[1])?];
        let (theirs, ours) = (exporter.devices()??, importer.devices()??);
        same("what a mask shows", (&theirs, &ours), (&masks[0], &masks[1]))?;
        numbers_of_another(&mut *importer, &ours, &theirs)?;
        if let Ok(common) = devices_in_common(&ours, &theirs) {
            let found = common[random.usize(0..common.len())];
            same("the device by its identity", ours.get(found.ours.0 as usize), Some(&found.uuid))?;
            importer.context(found.ours)??;
        }
    }
    Ok(())
}

pub(super) fn devices(driver: &dyn Driver) -> Result<Vec<Uuid>, DriverError> {
    (0..driver.device_get_count()?).map(|ordinal| driver.device_get_uuid(driver.device_get(ordinal)?)).collect()
}

/// Some of the devices in some order.
fn mask(all: &[Uuid], random: &mut fastrand::Rng) -> Vec<Uuid> {
    let mut mask = all.to_vec();
    random.shuffle(&mut mask);
    mask.truncate(random.usize(1..=all.len()));
    mask
}

/// A process that sees these devices.
pub(super) fn peer(machine: &Machine<'_>, mask: &[Uuid]) -> Result<Box<dyn Peer>, Trouble> {
    let list: Vec<String> = mask.iter().map(Uuid::to_string).collect();
    machine.peer_seeing(Some(&list.join(",")))
}

/// Each number that means a device to the other side.
fn numbers_of_another(importer: &mut dyn Peer, ours: &[Uuid], theirs: &[Uuid]) -> Result<(), Trouble> {
    for number in ours.len()..theirs.len() {
        let number = Device(i32::try_from(number).unwrap_or(i32::MAX));
        refused("a context on a device that only the other side sees", importer.context(number)?, &rules::DEVICE_1)?;
    }
    Ok(())
}
