//! A process of a machine, with what entries do over and over.

use std::ops::Deref;

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Call, Context, Device, DevicePtr, Driver, DriverError, GranularityOption,
    HandleType, JitOptions, MemHandle, Stream,
};
use peermap_model::Rule;
use peermap_scenario::{Author, Buffer, DeviceKernels, Fill, embedded_kernels};
use peermap_sim::SimProcess;

use crate::expect::{names, same};
use crate::trouble::Trouble;

/// A process of a machine.
pub(crate) struct Process {
    driver: Box<dyn Driver>,
    simulated: Option<SimProcess>,
}

/// Memory that is mapped, and that its device may read and write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapped {
    pub(crate) handle: MemHandle,
    pub(crate) ptr: DevicePtr,
    pub(crate) size: ByteSize,
}

impl Deref for Process {
    type Target = dyn Driver;

    fn deref(&self) -> &Self::Target {
        &*self.driver
    }
}

impl Process {
    pub(crate) fn simulated(process: SimProcess) -> Result<Self, Trouble> {
        process.init(0)?;
        Ok(Self { driver: Box::new(process.clone()), simulated: Some(process) })
    }

    pub(crate) fn real(driver: Box<dyn Driver>) -> Result<Self, Trouble> {
        driver.init(0)?;
        Ok(Self { driver, simulated: None })
    }

    /// What only the simulator has.
    pub(crate) const fn simulator(&self) -> Option<&SimProcess> {
        self.simulated.as_ref()
    }

    /// The simulator must have noted so many misuses by a rule, the last of which names the other side.
    pub(crate) fn reported(&self, rule: &Rule, times: usize, other: Call) -> Result<(), Trouble> {
        let Some(simulated) = &self.simulated else { return Ok(()) };
        let noted: Vec<_> = simulated.misuses().into_iter().filter(|misuse| misuse.rule == rule.id).collect();
        same("reports of the misuse", noted.len(), times)?;
        noted.last().map_or(Ok(()), |misuse| names(misuse, other))
    }

    /// The simulator must have noted nothing.
    pub(crate) fn reported_nothing(&self) -> Result<(), Trouble> {
        let noted = self.simulated.as_ref().map(SimProcess::misuses).unwrap_or_default();
        same("reports of misuses", noted, Vec::new())
    }

    /// A context on a device, which is current from now on. What a driver loads for the first fill and the first copy is loaded, so that
    /// it does not show as memory in use later.
    pub(crate) fn context(&self, ordinal: i32) -> Result<Context, DriverError> {
        let context = self.ctx_create(0, Device(ordinal))?;
        let size = self.granule()?;
        let handle = self.mem_create(size, &prop(ordinal), 0)?;
        let ptr = self.reserve(size)?;
        self.map(ptr, size, handle)?;
        self.grant(ptr, size, ordinal)?;
        self.memset_d8(ptr, 0, size)?;
        self.ctx_synchronize()?;
        self.read(ptr, 1)?;
        self.give_back(Mapped { handle, ptr, size })?;
        Ok(context)
    }

    /// Two devices that reach each other's memory, or a reason to leave the entry out.
    pub(crate) fn needs_two_devices(&self) -> Result<(), Trouble> {
        match self.device_get_count()? {
            0 | 1 => Err(Trouble::not_here("it takes two devices")),
            _ if self.device_can_access_peer(Device(1), Device(0))? => Ok(()),
            _ => Err(Trouble::not_here("it takes two devices that reach each other")),
        }
    }

    /// The unit of allocations.
    pub(crate) fn granule(&self) -> Result<ByteSize, DriverError> {
        self.mem_get_allocation_granularity(&prop(0), GranularityOption::MINIMUM)
    }

    /// Free memory of the current context's device.
    pub(crate) fn free_memory(&self) -> Result<ByteSize, DriverError> {
        self.mem_get_info().map(|info| info.free)
    }

    /// Memory of the first device that can be exported as a descriptor.
    pub(crate) fn create(&self, size: ByteSize) -> Result<MemHandle, DriverError> {
        self.mem_create(size, &prop(0), 0)
    }

    /// Addresses.
    pub(crate) fn reserve(&self, size: ByteSize) -> Result<DevicePtr, DriverError> {
        self.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0)
    }

    /// Maps all of an allocation.
    pub(crate) fn map(&self, ptr: DevicePtr, size: ByteSize, handle: MemHandle) -> Result<(), DriverError> {
        self.mem_map(ptr, size, ByteSize::ZERO, handle, 0)
    }

    /// Lets a device read and write.
    pub(crate) fn grant(&self, ptr: DevicePtr, size: ByteSize, ordinal: i32) -> Result<(), DriverError> {
        self.mem_set_access(ptr, size, &[AccessDesc::read_write(ordinal)])
    }

    /// Memory of the first device at addresses of its own, which that device may read and write.
    pub(crate) fn mapped(&self, size: ByteSize) -> Result<Mapped, DriverError> {
        let handle = self.create(size)?;
        self.mapped_of(handle, size)
    }

    /// The same with memory that is there.
    pub(crate) fn mapped_of(&self, handle: MemHandle, size: ByteSize) -> Result<Mapped, DriverError> {
        let ptr = self.reserve(size)?;
        self.map(ptr, size, handle)?;
        self.grant(ptr, size, 0)?;
        Ok(Mapped { handle, ptr, size })
    }

    /// Gives such memory back.
    pub(crate) fn give_back(&self, mapped: Mapped) -> Result<(), DriverError> {
        self.mem_unmap(mapped.ptr, mapped.size)?;
        self.mem_release(mapped.handle)?;
        self.mem_address_free(mapped.ptr, mapped.size)
    }

    /// The bytes at an address.
    pub(crate) fn read(&self, ptr: DevicePtr, count: usize) -> Result<Vec<u8>, DriverError> {
        let mut bytes = vec![0; count];
        self.memcpy_dtoh(&mut bytes, ptr)?;
        Ok(bytes)
    }
}

/// Queues a kernel that fills a buffer, on a device whose context is current.
pub(crate) fn fill(process: &Process, ordinal: i32, buffer: Buffer, stream: Stream) -> Result<(), DriverError> {
    let mut options = JitOptions::default();
    let image = embedded_kernels().as_bytes();
    let kernels = DeviceKernels::load(&**process, Device(ordinal), stream, image, Fill::Id, &mut options)?;
    kernels.fill(buffer, Author { worker: 10, step: 1 })
}

/// Memory of a device that can be exported as a descriptor.
pub(crate) const fn prop(ordinal: i32) -> AllocationProp {
    AllocationProp::pinned_on(ordinal, HandleType::POSIX_FILE_DESCRIPTOR)
}

/// The address so many bytes behind another.
pub(crate) const fn behind(ptr: DevicePtr, bytes: u64) -> DevicePtr {
    DevicePtr::new(ptr.get() + bytes)
}

/// So many times a size.
pub(crate) const fn times(size: ByteSize, count: u64) -> ByteSize {
    ByteSize::new(size.get() * count)
}
