//! F1: the attribute promised fabric handles, and creation refused them in a container without an IMEX channel.
//!
//! The attribute speaks for device and driver. Without a channel creation is not permitted, whatever else is asked for with it, and
//! memory of descriptors alone is there all the same; with a channel it is granted. So only trying tells.

use peermap_driver::{AllocationProp, ByteSize, Device, DeviceAttribute, DriverError, HandleType};
use peermap_model::{Profile, rules};

use crate::expect::{refused, same};
use crate::machine::Machine;
use crate::process::{Process, prop};
use crate::stage::{OPTIONS, Stage};
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    if stage.is_real() {
        return without_channel(&stage.machine()?);
    }
    let mut profile = Profile::named("fabric-lies")?;
    without_channel(&stage.simulating(profile.clone(), OPTIONS)?)?;
    for node in &mut profile.nodes {
        node.channels = vec![0];
    }
    let process = stage.simulating(profile, OPTIONS)?.process()?;
    let granule = process.granule()?;
    let handle = create(&process, HandleType::FABRIC, granule)?;
    process.mem_export_to_shareable_handle(handle, HandleType::FABRIC, 0)?;
    Ok(process.mem_release(handle)?)
}

fn create(process: &Process, types: HandleType, size: ByteSize) -> Result<peermap_driver::MemHandle, DriverError> {
    process.mem_create(size, &AllocationProp::pinned_on(0, types), 0)
}

fn without_channel(machine: &Machine<'_>) -> Result<(), Trouble> {
    let process = machine.process()?;
    let granule = process.granule()?;
    let attribute = DeviceAttribute::HANDLE_TYPE_FABRIC_SUPPORTED;
    if process.device_get_attribute(attribute, Device(0))? == 0 {
        return Err(Trouble::not_here("the device promises no fabric handles"));
    }
    for types in [HandleType::FABRIC, HandleType::FABRIC.with(HandleType::POSIX_FILE_DESCRIPTOR)] {
        match create(&process, types, granule) {
            Ok(handle) => {
                process.mem_release(handle)?;
                return Err(Trouble::not_here("this process has an IMEX channel"));
            }
            refusal => drop(refused("cuMemCreate of fabric handles without a channel", refusal, &rules::CREATE_9)?),
        }
    }
    let fallen_back = process.mem_create(granule, &prop(0), 0)?;
    let kept = process.mem_get_allocation_properties_from_handle(fallen_back)?.requested_handle_types;
    same("what the fall-back has", kept, HandleType::POSIX_FILE_DESCRIPTOR)?;
    Ok(process.mem_release(fallen_back)?)
}
