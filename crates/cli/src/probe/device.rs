//! One device: what it is, and what it does when it is asked to share.

use peermap_driver::{
    AllocationProp, ByteSize, CompressionType, Device, DeviceAttribute, Driver, DriverError, GranularityOption,
    HandleType, ShareableHandle,
};
use serde::Serialize;

/// What became of a way of sharing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Tried {
    /// Whether create, export and import all succeeded.
    pub(super) works: bool,
    /// The first call that was refused, and its answer.
    pub(super) refused: Option<String>,
}

/// What a device is and does.
#[derive(Debug, Serialize)]
pub(super) struct DeviceFacts {
    pub(super) ordinal: i32,
    pub(super) name: String,
    pub(super) uuid: String,
    pub(super) pci_bus_id: String,
    pub(super) compute_capability: String,
    pub(super) multiprocessors: Option<i32>,
    pub(super) clock_khz: Option<i32>,
    pub(super) memory_clock_khz: Option<i32>,
    pub(super) memory_bus_bits: Option<i32>,
    pub(super) l2_bytes: Option<i32>,
    pub(super) total_bytes: u64,
    /// Absent where no context could be made.
    pub(super) free_bytes: Option<u64>,
    pub(super) compute_mode: &'static str,
    pub(super) unified_addressing: bool,
    pub(super) virtual_memory_management: bool,
    pub(super) granularity_minimum: u64,
    pub(super) granularity_recommended: u64,
    pub(super) posix_descriptor: Tried,
    pub(super) fabric_attribute: bool,
    pub(super) fabric: Tried,
    /// Whether memory that was asked for so came back so: the property decides, not the attribute.
    pub(super) gpu_direct_rdma: Tried,
    pub(super) compression: Tried,
    pub(super) multicast_attribute: bool,
}

/// Asks and tries one device.
pub(super) fn find(driver: &dyn Driver, device: Device) -> Result<DeviceFacts, DriverError> {
    let attribute = |attribute| driver.device_get_attribute(attribute, device).ok();
    let flag = |name| attribute(name) == Some(1);
    let plain = AllocationProp::pinned_on(device.0, HandleType::POSIX_FILE_DESCRIPTOR);
    let granularity = |option| driver.mem_get_allocation_granularity(&plain, option).map(ByteSize::get);
    let unit = ByteSize::new(granularity(GranularityOption::MINIMUM)?);
    let capability = |name| attribute(name).unwrap_or(0);
    Ok(DeviceFacts {
        ordinal: device.0,
        name: driver.device_get_name(device)?,
        uuid: driver.device_get_uuid(device)?.to_string(),
        pci_bus_id: driver.device_get_pci_bus_id(device)?,
        compute_capability: format!(
            "{}.{}",
            capability(DeviceAttribute::COMPUTE_CAPABILITY_MAJOR),
            capability(DeviceAttribute::COMPUTE_CAPABILITY_MINOR)
        ),
        multiprocessors: attribute(DeviceAttribute::MULTIPROCESSOR_COUNT),
        clock_khz: attribute(DeviceAttribute::CLOCK_RATE),
        memory_clock_khz: attribute(DeviceAttribute::MEMORY_CLOCK_RATE),
        memory_bus_bits: attribute(DeviceAttribute::GLOBAL_MEMORY_BUS_WIDTH),
        l2_bytes: attribute(DeviceAttribute::L2_CACHE_SIZE),
        total_bytes: driver.device_total_mem(device)?.get(),
        free_bytes: free_bytes(driver, device),
        compute_mode: compute_mode(attribute(DeviceAttribute::COMPUTE_MODE)),
        unified_addressing: flag(DeviceAttribute::UNIFIED_ADDRESSING),
        virtual_memory_management: flag(DeviceAttribute::VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
        granularity_minimum: unit.get(),
        granularity_recommended: granularity(GranularityOption::RECOMMENDED)?,
        posix_descriptor: try_sharing(driver, &plain, unit, HandleType::POSIX_FILE_DESCRIPTOR),
        fabric_attribute: flag(DeviceAttribute::HANDLE_TYPE_FABRIC_SUPPORTED),
        fabric: try_sharing(driver, &AllocationProp::pinned_on(device.0, HandleType::FABRIC), unit, HandleType::FABRIC),
        gpu_direct_rdma: try_property(driver, &AllocationProp { gpu_direct_rdma: true, ..plain }, unit, |got| {
            got.gpu_direct_rdma
        }),
        compression: try_property(
            driver,
            &AllocationProp { compression: CompressionType::GENERIC, ..plain },
            unit,
            |got| got.compression == CompressionType::GENERIC,
        ),
        multicast_attribute: flag(DeviceAttribute::MULTICAST_SUPPORTED),
    })
}

const fn compute_mode(mode: Option<i32>) -> &'static str {
    match mode {
        Some(0) => "default",
        Some(2) => "prohibited",
        Some(3) => "exclusive process",
        _ => "unknown",
    }
}

/// Free memory takes a context to ask for.
fn free_bytes(driver: &dyn Driver, device: Device) -> Option<u64> {
    let context = driver.ctx_create(0, device).ok()?;
    let info = driver.mem_get_info();
    // The answer is what matters; a context that cannot be destroyed ends with this process.
    drop(driver.ctx_destroy(context));
    info.ok().map(|info| info.free.get())
}

fn refused(call: &str, error: &DriverError) -> Tried {
    let answer = error.result().map_or_else(|| error.to_string(), |result| result.to_string());
    Tried { works: false, refused: Some(format!("{call}: {answer}")) }
}

const WORKS: Tried = Tried { works: true, refused: None };

/// Creates, exports and imports one unit of memory.
fn try_sharing(driver: &dyn Driver, prop: &AllocationProp, unit: ByteSize, handle_type: HandleType) -> Tried {
    let created = match driver.mem_create(unit, prop, 0) {
        Ok(created) => created,
        Err(error) => return refused("cuMemCreate", &error),
    };
    let tried = match driver.mem_export_to_shareable_handle(created, handle_type, 0) {
        Ok(exported) => try_import(driver, &exported, handle_type),
        Err(error) => refused("cuMemExportToShareableHandle", &error),
    };
    drop(driver.mem_release(created));
    tried
}

fn try_import(driver: &dyn Driver, exported: &ShareableHandle, handle_type: HandleType) -> Tried {
    match driver.mem_import_from_shareable_handle(exported.as_os_handle(), handle_type) {
        Ok(imported) => {
            drop(driver.mem_release(imported));
            WORKS
        }
        Err(error) => refused("cuMemImportFromShareableHandle", &error),
    }
}

/// Creates memory with a property and reads back whether it has it.
fn try_property(
    driver: &dyn Driver,
    prop: &AllocationProp,
    unit: ByteSize,
    has: impl Fn(&AllocationProp) -> bool,
) -> Tried {
    let created = match driver.mem_create(unit, prop, 0) {
        Ok(created) => created,
        Err(error) => return refused("cuMemCreate", &error),
    };
    let tried = match driver.mem_get_allocation_properties_from_handle(created) {
        Ok(got) if has(&got) => WORKS,
        Ok(_) => Tried { works: false, refused: Some("asked for and not given".to_owned()) },
        Err(error) => refused("cuMemGetAllocationPropertiesFromHandle", &error),
    };
    drop(driver.mem_release(created));
    tried
}

#[cfg(test)]
mod tests {
    use peermap_sim::SimMachine;

    use super::*;

    fn first_device_of(profile: &str) -> DeviceFacts {
        let machine = SimMachine::named(profile).unwrap();
        let process = machine.process().unwrap();
        process.init(0).unwrap();
        let facts = find(&process, Device(0)).unwrap();
        assert_eq!(machine.holders().unwrap().0, [], "the probe leaves nothing behind");
        facts
    }

    #[test]
    fn an_attribute_is_no_proof() {
        let facts = first_device_of("fabric-lies");
        assert!(facts.fabric_attribute);
        assert_eq!(
            facts.fabric,
            Tried { works: false, refused: Some("cuMemCreate: CUDA_ERROR_NOT_PERMITTED".to_owned()) }
        );
    }

    #[test]
    fn what_is_granted_works() {
        let facts = first_device_of("default");
        for tried in [facts.posix_descriptor, facts.fabric, facts.gpu_direct_rdma, facts.compression] {
            assert_eq!(tried, WORKS);
        }
    }

    #[test]
    fn facts_are_those_of_the_profile() {
        let facts = first_device_of("g64k");
        assert_eq!(facts.granularity_minimum, 65536);
        assert_eq!(facts.multiprocessors, Some(132));
        assert_eq!(facts.compute_capability, "9.0");
    }
}
