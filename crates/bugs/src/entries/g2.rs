//! G2: one rank could not add its device, and the others waited in their binds for ever.
//!
//! For each rank that fails: a device that does not reach the others is refused; a bind does not return before the team is whole, which
//! the simulator says instead of waiting, with the ranks that have and those that have not; once the device is added the bind
//! succeeds.

use std::time::Duration;

use peermap_driver::{ByteSize, Device, DriverError, HandleType, MemHandle, MulticastObjectProp};
use peermap_model::{Profile, rules};

use crate::expect::{holds, refused};
use crate::machine::Machine;
use crate::process::{Process, prop};
use crate::stage::{OPTIONS, Stage};
use crate::trouble::Trouble;

/// How many ranks a team has, each with the device of its number.
const RANKS: i32 = 4;

/// A device that reaches none of them: it is of another node.
const STRANGER: Device = Device(RANKS);

/// How long a call waits for the team in the simulator.
const PATIENCE: Duration = Duration::from_millis(20);

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let machine = stage.simulating(Profile::named("nvl72")?, OPTIONS)?;
    (0..RANKS).try_for_each(|failing| without(&machine, failing))
}

fn without(machine: &Machine<'_>, failing: i32) -> Result<(), Trouble> {
    let ranks = (0..RANKS).map(|_| machine.process()).collect::<Result<Vec<_>, _>>()?;
    ranks.iter().filter_map(Process::simulator).for_each(|rank| rank.wait_for_teams(PATIENCE));
    let teams = share(&ranks)?;
    let rank = |number: i32| (&ranks[number as usize], teams[number as usize]);
    for number in (0..RANKS).filter(|number| *number != failing) {
        let (process, team) = rank(number);
        process.multicast_add_device(team, Device(number))?;
    }
    let (late, team) = rank(failing);
    refused("a device of another clique", late.multicast_add_device(team, STRANGER), &rules::MULTICAST_10)?;
    for number in 0..RANKS {
        let (process, team) = rank(number);
        let told = match bind(process, team, number) {
            Err(DriverError::WouldHang { explanation }) => explanation.to_string(),
            answer => format!("{answer:?}"),
        };
        let named = format!("without a device [process {}]", late.simulator().map_or(0, |process| process.id().0));
        holds("a bind that never returns says who is missing", told.contains(&named), told)?;
    }
    late.multicast_add_device(team, Device(failing))?;
    for number in 0..RANKS {
        let (process, team) = rank(number);
        bind(process, team, number)?;
    }
    Ok(())
}

/// Each rank's handle of a team of all of them.
fn share(ranks: &[Process]) -> Result<Vec<MemHandle>, Trouble> {
    let posix = HandleType::POSIX_FILE_DESCRIPTOR;
    let devices = u32::try_from(RANKS).unwrap_or_default();
    let (first, others) = ranks.split_first().ok_or_else(|| Trouble::not_here("there is no rank"))?;
    let team = first.multicast_create(&MulticastObjectProp::team_of(devices, ByteSize::mib(2), posix))?;
    let exported = first.mem_export_to_shareable_handle(team, posix, 0)?;
    let imported = others.iter().map(|rank| rank.mem_import_from_shareable_handle(exported.as_os_handle(), posix));
    Ok(std::iter::once(Ok(team)).chain(imported).collect::<Result<_, _>>()?)
}

fn bind(process: &Process, team: MemHandle, ordinal: i32) -> Result<(), DriverError> {
    let size = ByteSize::mib(2);
    let memory = process.mem_create(size, &prop(ordinal), 0)?;
    let bound = process.multicast_bind_mem(team, ByteSize::ZERO, memory, ByteSize::ZERO, size, 0);
    process.mem_release(memory)?;
    bound
}
