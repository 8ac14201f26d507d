//! What the tests share: one driver, and owners that clean up after a test.

use std::sync::OnceLock;

use peermap_cuda::CudaDriver;
use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Context, CuResult, Device, DevicePtr, Driver, DriverError, HandleType,
    MemHandle, Result,
};

/// The unit of virtual memory on every device so far.
pub const GRANULE: ByteSize = ByteSize::mib(2);

/// The device that the tests use.
pub const DEVICE: Device = Device(0);

/// Memory of the device that can be shared by descriptor.
pub const SHAREABLE: AllocationProp = AllocationProp::pinned_on(DEVICE.0, HandleType::POSIX_FILE_DESCRIPTOR);

/// The driver of this process, initialised.
pub fn driver() -> &'static CudaDriver {
    static DRIVER: OnceLock<CudaDriver> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let driver = CudaDriver::open().unwrap_or_else(|error| panic!("{error}"));
        driver.check_devices().unwrap_or_else(|error| panic!("{error}"));
        driver
    })
}

/// The answer `code`.
pub fn refused<T>(code: CuResult) -> Result<T> {
    Err(DriverError::refused(code))
}

/// The address `bytes` after another.
pub fn at(base: DevicePtr, bytes: u64) -> DevicePtr {
    base.checked_add(ByteSize::new(bytes)).expect("device addresses end far below 2^64")
}

/// Cleaning up must work, but a test that has failed already keeps its own message.
fn cleaned(answer: Result<()>) {
    assert!(answer.is_ok() || std::thread::panicking(), "cleaning up: {answer:?}");
}

/// A context that is current until it is dropped.
pub struct Current(pub Context);

impl Current {
    pub fn new() -> Self {
        Self(driver().ctx_create(0, DEVICE).expect("a context on the device"))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        cleaned(driver().ctx_destroy(self.0));
    }
}

/// Reserved addresses.
pub struct Reserved {
    pub ptr: DevicePtr,
    size: ByteSize,
}

impl Reserved {
    pub fn new(size: ByteSize) -> Self {
        let ptr = driver().mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).expect("addresses");
        Self { ptr, size }
    }
}

impl Drop for Reserved {
    /// Unmaps whatever is mapped: `cuMemUnmap` succeeds on a range with holes, and on one with nothing mapped.
    fn drop(&mut self) {
        cleaned(driver().mem_unmap(self.ptr, self.size));
        cleaned(driver().mem_address_free(self.ptr, self.size));
    }
}

/// A handle that is released when dropped.
pub struct Held(pub MemHandle);

impl Held {
    pub fn new(size: ByteSize) -> Self {
        Self(driver().mem_create(size, &SHAREABLE, 0).expect("memory of the device"))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        cleaned(driver().mem_release(self.0));
    }
}

/// Memory that the device may read and write.
pub struct Mapped {
    pub ptr: DevicePtr,
    _addresses: Reserved,
    _handle: Held,
}

impl Mapped {
    /// New memory.
    pub fn new(size: ByteSize) -> Self {
        Self::of(Held::new(size), size)
    }

    /// The memory of a handle, which goes with the mapping.
    pub fn of(handle: Held, size: ByteSize) -> Self {
        let addresses = Reserved::new(size);
        let ptr = addresses.ptr;
        driver().mem_map(ptr, size, ByteSize::ZERO, handle.0, 0).expect("a mapping of the whole allocation");
        driver().mem_set_access(ptr, size, &[AccessDesc::read_write(DEVICE.0)]).expect("access to the mapping");
        Self { ptr, _addresses: addresses, _handle: handle }
    }
}

/// Memory of `cuMemAlloc`.
pub struct Allocated(pub DevicePtr);

impl Allocated {
    pub fn new(size: ByteSize) -> Self {
        Self(driver().mem_alloc(size).expect("memory of the context"))
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        cleaned(driver().mem_free(self.0));
    }
}

/// The bytes at a device address.
pub fn read(src: DevicePtr, size: ByteSize) -> Vec<u8> {
    let mut bytes = vec![0xEE; size.to_usize().expect("a size of a few MiB")];
    driver().memcpy_dtoh(&mut bytes, src).expect("a copy to the host");
    bytes
}

/// Whether every byte at a device address has a value.
pub fn holds(src: DevicePtr, size: ByteSize, value: u8) -> bool {
    read(src, size).iter().all(|byte| *byte == value)
}
