//! Allocations and their handles: `cuMemCreate`, `cuMemRelease`, properties, export and import.

use peermap_driver::{
    AllocationProp, AllocationType, Argument, ByteSize, CallSite, CompressionType, Device, DeviceAttribute,
    DriverError, GranularityOption, HandleType, Location, LocationType, MemHandle, Result,
};

use super::fabric::{Refusals, out_of_reach};
use super::{Outside, Process};
use crate::lifecycle::{HandleEvent, HandleState, handle_error};
use crate::rules;
use crate::wire::{AllocId, AllocationRecord, Answer, Ask, Backing, Holding, Place};

/// A handle value that is not gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct HandleRecord {
    pub(super) state: HandleState,
    pub(super) alloc: AllocId,
    pub(super) size: ByteSize,
    pub(super) place: Place,
    pub(super) backing: Backing,
    pub(super) prop: AllocationProp,
    pub(super) site: CallSite,
}

/// How many handle values of this process an allocation has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ValueCount {
    /// That are not gone.
    all: u32,
    /// Of these, that were obtained more often than released.
    held: u32,
}

/// Which values are handed out as handles.
#[derive(Debug, Default)]
pub(super) struct HandleValues {
    handed_out: u64,
    given_back: Vec<u64>,
}

impl HandleValues {
    const FIRST: u64 = 0x5_6000_0000;
    const STRIDE: u64 = 0x140;

    fn next(&mut self, recycle: bool) -> u64 {
        if recycle && let Some(value) = self.given_back.pop() {
            return value;
        }
        let value = Self::FIRST + self.handed_out * Self::STRIDE;
        self.handed_out += 1;
        value
    }

    /// Whether the value was ever a handle of this process.
    const fn was_handed_out(&self, value: u64) -> bool {
        value >= Self::FIRST
            && (value - Self::FIRST).is_multiple_of(Self::STRIDE)
            && (value - Self::FIRST) / Self::STRIDE < self.handed_out
    }
}

impl Process {
    /// `cuMemGetAllocationGranularity`: it checks nothing.
    #[must_use]
    pub fn mem_get_allocation_granularity(&self, _prop: &AllocationProp, _option: GranularityOption) -> ByteSize {
        self.granularity()
    }

    /// `cuMemCreate`: the raw value of the handle.
    ///
    /// # Errors
    /// CREATE-1 to CREATE-12.
    pub fn mem_create(
        &mut self,
        outside: &mut Outside<'_>,
        size: ByteSize,
        prop: &AllocationProp,
        flags: u64,
    ) -> Result<u64> {
        if flags != 0 && rules::CREATE_1.is_on() {
            return Err(rules::CREATE_1.refuse(&[("flags", &flags)], None));
        }
        let place = self.check_create(prop)?;
        let granularity = self.granularity();
        if (size.is_zero() || !size.is_multiple_of(granularity)) && rules::CREATE_7.is_on() {
            return Err(rules::CREATE_7.refuse(&[("size", &size), ("granularity", &granularity)], None));
        }
        let mut prop = *prop;
        if let Place::HostNuma(node) = place {
            prop.location = Location { kind: LocationType::HOST_NUMA, id: i32::from(node) };
        }
        let ask = Ask::Create { place, prop, size, holding: Holding::Handle, site: self.site };
        match outside.machine.ask(ask)? {
            // What was given, which may be less than what was asked for.
            Answer::Allocation(record) => Ok(self.new_handle(&record, record.prop)),
            Answer::OutOfMemory { free } => Err(rules::CREATE_10.refuse(&[("size", &size), ("free", &free)], None)),
            other => Err(unexpected(&other)),
        }
    }

    /// Whether the properties are in order; where the memory is to lie.
    fn check_create(&self, prop: &AllocationProp) -> Result<Place> {
        let refuse =
            |rule: &'static crate::rule::Rule, name, value: &dyn Argument| Err(rule.refuse(&[(name, value)], None));
        let handle_types = prop.requested_handle_types;
        if prop.allocation_type != AllocationType::PINNED {
            return refuse(&rules::CREATE_2, "type", &prop.allocation_type.0);
        }
        let location = prop.location;
        let on_device = location.kind == LocationType::DEVICE;
        if !on_device && location.kind != LocationType::HOST && location.kind != LocationType::HOST_NUMA {
            return refuse(&rules::CREATE_3, "location", &location);
        }
        self.check_platform(prop)?;
        if location.kind == LocationType::HOST && handle_types != HandleType::NONE {
            return refuse(&rules::CREATE_5, "handle_types", &handle_types);
        }
        if prop.compression != CompressionType::NONE && prop.compression != CompressionType::GENERIC {
            return refuse(&rules::CREATE_6, "compression", &prop.compression);
        }
        if !on_device && !self.maps_host_memory() {
            return refuse(&rules::CREATE_12, "location", &location);
        }
        let place = if on_device {
            self.device_of(location.id).map(Place::Device)
        } else {
            let node = if location.kind == LocationType::HOST { 0 } else { location.id };
            u16::try_from(node).ok().filter(|node| *node < self.profile.host_numa_nodes).map(Place::HostNuma)
        };
        let Some(place) = place else { return refuse(&rules::CREATE_8, "location", &location) };
        let refusals = Refusals { no_channel: &rules::CREATE_9, not_supported: &rules::CREATE_11 };
        self.check_fabric(place, handle_types, &refusals, ("handle_types", &handle_types), None)?;
        Ok(place)
    }

    /// Whether any device that the process sees maps memory of the host.
    fn maps_host_memory(&self) -> bool {
        let supported = DeviceAttribute::HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
        self.visible.iter().any(|device| self.profile.gives(*device, supported)) || !rules::CREATE_12.is_on()
    }

    pub(super) fn new_handle(&mut self, record: &AllocationRecord, prop: AllocationProp) -> u64 {
        let value = self.handle_values.next(self.chooser.recycles());
        self.knows_teams |= matches!(record.place, Place::Team { .. });
        let values = self.held.entry(record.alloc).or_default();
        values.all += 1;
        values.held += 1;
        let record = HandleRecord {
            state: HandleState::NEW,
            alloc: record.alloc,
            size: record.size,
            place: record.place,
            backing: record.backing,
            prop,
            site: self.site,
        };
        self.handles.insert(value, record);
        value
    }

    /// The record of a handle; a value that is gone or was never handed out crashes the real driver.
    pub(super) fn handle_record(&self, handle: MemHandle) -> Result<&HandleRecord> {
        self.handles.get(&handle.as_raw()).ok_or_else(|| handle_error(&rules::HANDLE_1, handle, None))
    }

    pub(super) fn set_handle_state(&mut self, handle: MemHandle, state: HandleState) {
        if let Some(record) = self.handles.get_mut(&handle.as_raw()) {
            record.state = state;
        }
    }

    /// Moves a living handle on. If how the process holds the allocation changed between handle and mappings, gives
    /// the allocation.
    pub(super) fn step_handle(
        &mut self,
        outside: &mut Outside<'_>,
        value: u64,
        event: HandleEvent,
    ) -> Result<Option<AllocId>> {
        let record = self.handles.get_mut(&value).expect("a mapping keeps its handle");
        let before = record.state;
        record.state = before.step(event).map_err(|rule| rule.refuse(&[], Some(record.site)))?;
        let (after, alloc) = (record.state, record.alloc);
        if !after.keeps_memory() {
            self.handles.remove(&value);
            self.handle_values.given_back.push(value);
            self.let_go(outside, alloc)?;
        }
        Ok(self.note_step(alloc, before, after).then_some(alloc))
    }

    /// Notes a step of one handle value of an allocation. True if it changes how the process holds the allocation: if no
    /// other value of it is held.
    fn note_step(&mut self, alloc: AllocId, before: HandleState, after: HandleState) -> bool {
        let is_held = |state| matches!(state, HandleState::Held { .. });
        if is_held(before) == is_held(after) {
            return false;
        }
        let Some(values) = self.held.get_mut(&alloc) else { return false };
        let others = values.held - u32::from(is_held(before));
        values.held = others + u32::from(is_held(after));
        others == 0
    }

    /// One handle value less on an allocation; the last one tells the machine.
    fn let_go(&mut self, outside: &mut Outside<'_>, alloc: AllocId) -> Result<()> {
        let values = self.held.get_mut(&alloc).expect("a handle value is counted");
        values.all -= 1;
        if values.all == 0 {
            self.held.remove(&alloc);
            outside.machine.ask(Ask::Drop { alloc })?;
        }
        Ok(())
    }

    pub(super) fn tell_holding(&self, outside: &mut Outside<'_>, alloc: AllocId, holding: Holding) -> Result<()> {
        outside.machine.ask(Ask::Hold { alloc, holding }).map(|_| ())
    }

    /// `cuMemRelease`.
    ///
    /// # Errors
    /// RELEASE-1, RELEASE-2, HANDLE-1.
    pub fn mem_release(&mut self, outside: &mut Outside<'_>, handle: MemHandle) -> Result<()> {
        if handle == MemHandle::NULL && rules::RELEASE_2.is_on() {
            return Err(rules::RELEASE_2.refuse(&[], None));
        }
        let Some(record) = self.handles.get(&handle.as_raw()) else {
            let known = self.handle_values.was_handed_out(handle.as_raw());
            let rule = if known { &rules::RELEASE_1 } else { &rules::HANDLE_1 };
            return Err(handle_error(rule, handle, None));
        };
        if let Err(rule) = record.state.step(HandleEvent::Release) {
            return Err(handle_error(rule, handle, Some(record.site)));
        }
        match self.step_handle(outside, handle.as_raw(), HandleEvent::Release)? {
            Some(alloc) => self.tell_holding(outside, alloc, Holding::Mapping),
            None => Ok(()),
        }
    }

    /// `cuMemGetAllocationPropertiesFromHandle`.
    ///
    /// # Errors
    /// PROPS-1, HANDLE-1.
    pub fn mem_get_allocation_properties_from_handle(&self, handle: MemHandle) -> Result<AllocationProp> {
        if handle == MemHandle::NULL && rules::PROPS_1.is_on() {
            return Err(rules::PROPS_1.refuse(&[], None));
        }
        let record = self.usable(handle)?;
        match record.place {
            Place::Team { .. } => {
                Err(DriverError::NotModelled { what: "the properties of a multicast object".to_owned() })
            }
            Place::Device(_) | Place::HostNuma(_) => Ok(record.prop),
        }
    }

    /// The record of a handle that a call other than release may use.
    pub(super) fn usable(&self, handle: MemHandle) -> Result<HandleRecord> {
        let record = *self.handle_record(handle)?;
        record.state.step(HandleEvent::Use).map_err(|rule| handle_error(rule, handle, Some(record.site)))?;
        Ok(record)
    }

    /// `cuMemExportToShareableHandle`: the machine's answer, beside which the descriptor travels.
    ///
    /// # Errors
    /// EXPORT-1 to EXPORT-4, HANDLE-1.
    pub fn mem_export_to_shareable_handle(
        &mut self,
        outside: &mut Outside<'_>,
        handle: MemHandle,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<Answer> {
        if handle == MemHandle::NULL && rules::EXPORT_1.is_on() {
            return Err(rules::EXPORT_1.refuse(&[], None));
        }
        if flags != 0 && rules::EXPORT_2.is_on() {
            return Err(rules::EXPORT_2.refuse(&[("flags", &flags)], None));
        }
        let record = self.usable(handle)?;
        let requested = record.prop.requested_handle_types;
        if (handle_type == HandleType::NONE || !requested.contains(handle_type)) && rules::EXPORT_3.is_on() {
            let facts: [(&str, &dyn Argument); 2] = [("handle_type", &handle_type), ("requested", &requested)];
            return Err(rules::EXPORT_3.refuse(&facts, Some(record.site)));
        }
        if handle_type == HandleType::FABRIC && !self.profile.exports_fabric && rules::EXPORT_4.is_on() {
            return Err(rules::EXPORT_4.refuse(&[("handle_type", &handle_type)], Some(record.site)));
        }
        let ask = match handle_type {
            HandleType::POSIX_FILE_DESCRIPTOR => Ask::ExportDescriptor { alloc: record.alloc, site: self.site },
            HandleType::FABRIC => Ask::ExportFabric { alloc: record.alloc },
            HandleType::WIN32 => Ask::ExportWin32 { alloc: record.alloc },
            other => return Err(DriverError::NotModelled { what: format!("export as handle type {other}") }),
        };
        outside.machine.ask(ask)
    }

    /// `cuMemImportFromShareableHandle` of a descriptor that travels beside the question, or of a fabric handle: the raw
    /// value of the handle. `descriptor` is its number.
    ///
    /// # Errors
    /// IMPORT-1 to IMPORT-6, FABRIC-1 to FABRIC-3.
    pub fn mem_import_from_shareable_handle(
        &mut self,
        outside: &mut Outside<'_>,
        descriptor: Option<i32>,
        fabric: Option<&[u8]>,
        handle_type: HandleType,
    ) -> Result<u64> {
        let (ask, missing) = match handle_type {
            HandleType::NONE => return Err(rules::IMPORT_2.refuse(&[], None)),
            HandleType::WIN32 | HandleType::WIN32_KMT => {
                return Err(rules::IMPORT_3.refuse(&[("handle_type", &handle_type)], None));
            }
            HandleType::POSIX_FILE_DESCRIPTOR => (Ask::ImportDescriptor, &rules::IMPORT_4),
            HandleType::FABRIC => {
                let handle = fabric.map(<[u8]>::to_vec).unwrap_or_default();
                (Ask::ImportFabric { handle }, &rules::IMPORT_5)
            }
            other => return Err(DriverError::NotModelled { what: format!("import of handle type {other}") }),
        };
        let number = descriptor.unwrap_or(-1);
        if handle_type == HandleType::POSIX_FILE_DESCRIPTOR && number == 0 && rules::IMPORT_1.is_on() {
            return Err(rules::IMPORT_1.refuse(&[], None));
        }
        match outside.machine.ask(ask)? {
            Answer::Allocation(record) => Ok(self.imported(&record)),
            Answer::NotExported if handle_type == HandleType::FABRIC => Err(missing.refuse(&[], None)),
            Answer::NotExported => Err(missing.refuse(&[("descriptor", &number)], None)),
            Answer::Apart(apart) => Err(out_of_reach(apart)),
            Answer::OtherKind => Err(rules::IMPORT_6.refuse(&[("descriptor", &number)], None)),
            other => Err(unexpected(&other)),
        }
    }

    /// A handle to memory that was imported.
    pub(super) fn imported(&mut self, record: &AllocationRecord) -> u64 {
        let prop = self.imported_prop(record);
        self.new_handle(record, prop)
    }

    /// The properties that an importer sees: no handle types, and the device by its own ordinal.
    fn imported_prop(&self, record: &AllocationRecord) -> AllocationProp {
        let mut prop = record.prop;
        prop.requested_handle_types = HandleType::NONE;
        if let Place::Device(device) = record.place {
            let ordinal = self.ordinal_of(device).and_then(|ordinal| i32::try_from(ordinal).ok());
            prop.location = Location::device(Device(ordinal.unwrap_or(-1)).0);
        }
        prop
    }
}

/// The machine answered something that does not belong to the question: a bug on the other side of the wire.
pub(super) fn unexpected(answer: &Answer) -> DriverError {
    DriverError::Host { what: format!("the simulated machine answered {answer:?} to another question") }
}

/// The 64 bytes of a handle that the machine made.
pub(super) fn name_of(bytes: Vec<u8>) -> Result<[u8; 64]> {
    bytes.try_into().map_err(|bytes: Vec<u8>| DriverError::Host {
        what: format!("the simulated machine made a handle of {} bytes", bytes.len()),
    })
}
