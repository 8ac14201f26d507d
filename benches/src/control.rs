//! Calls on a process with many live mappings.

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, DevicePtr, Driver, GranularityOption, HandleType, Location, MemHandle,
    OsHandle,
};
use peermap_sim::{SimMachine, SimProcess};

/// Handles that are not mapped, for the mappings that come and go.
const SPARE: usize = 256;

/// Random places are drawn from this; the same in every run.
const SEED: u64 = 0x70EE_12A9;

/// Places from one stretch to the next. That the first of each is free spares the benchmark a list of the free ones, whose
/// cache misses would be measured with the calls.
const STRETCH: u64 = 4;

/// A simulated process with live mappings at random places of one reservation.
///
/// The memory is spread over the devices of the machine, so that as many allocations fit.
pub struct Populated {
    process: SimProcess,
    granule: ByteSize,
    base: DevicePtr,
    /// The places that are mapped, in granules from the base, in no order. In each stretch of [`STRETCH`] places one is
    /// mapped, which is never the first.
    mapped: Vec<u64>,
    spare: Vec<MemHandle>,
    devices: i32,
    random: fastrand::Rng,
}

impl Populated {
    /// A process with so many live mappings, each of an allocation of its own.
    ///
    /// # Panics
    /// If the host cannot back the machine, or the machine has not so much memory.
    #[must_use]
    pub fn with(live: usize) -> Self {
        let machine = SimMachine::named("default").expect("the host can back a machine");
        let process = machine.process().expect("the host can back a process");
        process.init(0).expect("a driver can be initialised");
        let devices = process.device_get_count().expect("a count");
        process.ctx_create(0, process.device_get(0).expect("there is a device")).expect("a context");
        let granule =
            process.mem_get_allocation_granularity(&prop(0), GranularityOption::MINIMUM).expect("a granularity");
        let size = granule.checked_mul(STRETCH * live as u64).expect("a size");
        let base = process.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).expect("addresses");
        let mut random = fastrand::Rng::with_seed(SEED);
        let mut mapped: Vec<u64> = (0..live as u64).map(|stretch| STRETCH * stretch + random.u64(1..STRETCH)).collect();
        random.shuffle(&mut mapped);
        let mut handles: Vec<MemHandle> = (0..(live + SPARE) as i32)
            .map(|index| process.mem_create(granule, &prop(index % devices), 0).expect("memory"))
            .collect();
        random.shuffle(&mut handles);
        let spare = handles.split_off(live);
        let populated = Self { process, granule, base, mapped, spare, devices, random };
        for (place, handle) in populated.mapped.iter().zip(handles) {
            populated.map(populated.address(*place), handle);
        }
        populated
    }

    fn address(&self, place: u64) -> DevicePtr {
        let offset = self.granule.checked_mul(place).expect("inside the reservation");
        self.base.checked_add(offset).expect("inside the reservation")
    }

    fn map(&self, address: DevicePtr, handle: MemHandle) {
        self.process.mem_map(address, self.granule, ByteSize::ZERO, handle, 0).expect("a mapping");
        self.process.mem_set_access(address, self.granule, &[AccessDesc::read_write(0)]).expect("rights");
    }

    /// Maps one allocation more at a random place, gives a device the rights, and unmaps it: three calls.
    ///
    /// # Panics
    /// If the driver refuses any of them.
    pub fn map_and_unmap(&mut self) {
        let place = STRETCH * self.random.u64(..self.mapped.len() as u64);
        let handle = self.spare[self.random.usize(..self.spare.len())];
        let address = self.address(place);
        self.map(address, handle);
        self.process.mem_unmap(address, self.granule).expect("it is mapped");
    }

    /// Asks for the rights of a device at a random place: one call.
    ///
    /// # Panics
    /// If the driver refuses.
    pub fn get_access(&mut self) {
        let place = self.mapped[self.random.usize(..self.mapped.len())];
        let rights = self.process.mem_get_access(self.address(place), Location::device(0));
        std::hint::black_box(rights.expect("it is mapped"));
    }

    /// Allocates a granule on a random device and releases it: two calls, each a question to the machine.
    ///
    /// # Panics
    /// If the driver refuses.
    pub fn create_and_release(&mut self) {
        let device = self.random.i32(0..self.devices);
        let handle = self.process.mem_create(self.granule, &prop(device), 0).expect("memory");
        self.process.mem_release(handle).expect("it is a handle");
    }

    /// Reserves a granule of addresses and frees it: two calls.
    ///
    /// # Panics
    /// If the driver refuses.
    pub fn reserve_and_free(&mut self) {
        let size = self.granule;
        let address = self.process.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).expect("addresses");
        self.process.mem_address_free(address, size).expect("it is a reservation");
    }

    /// Exports an allocation as a descriptor, imports that, closes it and releases the new handle: three calls.
    ///
    /// # Panics
    /// If the driver refuses, or no descriptor is left.
    pub fn export_and_import(&mut self) {
        let handle = self.spare[self.random.usize(..self.spare.len())];
        let kind = HandleType::POSIX_FILE_DESCRIPTOR;
        let exported = self.process.mem_export_to_shareable_handle(handle, kind, 0).expect("an export");
        let descriptor = exported.into_posix_fd().expect("a descriptor was asked for");
        let from = OsHandle::Fd(std::os::fd::AsFd::as_fd(&descriptor));
        let imported = self.process.mem_import_from_shareable_handle(from, kind).expect("an import");
        self.process.mem_release(imported).expect("it is a handle");
    }

    /// Fills 16 bytes at a random place and waits: two calls.
    ///
    /// # Panics
    /// If the driver refuses.
    pub fn memset_and_wait(&mut self) {
        // Few places only: what is measured is the way through the queue, and each first write takes host memory.
        let place = self.mapped[self.random.usize(..self.mapped.len().min(8))];
        self.process.memset_d8(self.address(place), 7, ByteSize::new(16)).expect("it is writable");
        self.process.ctx_synchronize().expect("no fault");
    }
}

fn prop(device: i32) -> AllocationProp {
    AllocationProp::pinned_on(device, HandleType::POSIX_FILE_DESCRIPTOR)
}
