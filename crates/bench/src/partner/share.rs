//! The partner's side of sharing.

use std::os::fd::{AsFd, OwnedFd};

use peermap_driver::{AccessDesc, ByteSize, Device, DevicePtr, Driver, HandleType, IpcMemHandle, MemHandle, OsHandle};

use super::order::Reach;
use crate::clock::timed;
use crate::error::BenchError;

/// What a partner shares with who measures in one context: at most one memory of each kind at a time.
pub(super) struct Shared {
    device: Device,
    reached: Option<Reached>,
    lent: Option<DevicePtr>,
}

/// Memory of who measures.
enum Reached {
    Mapped { handle: MemHandle, ptr: DevicePtr, size: ByteSize },
    Opened(DevicePtr),
}

impl Shared {
    pub(super) const fn on(device: Device) -> Self {
        Self { device, reached: None, lent: None }
    }

    /// Makes memory readable and reads a byte of it; gives the time of each step.
    pub(super) fn reach(
        &mut self,
        driver: &dyn Driver,
        reach: Reach,
        descriptor: Option<OwnedFd>,
    ) -> Result<Vec<f64>, BenchError> {
        match reach {
            Reach::Descriptor { size } => {
                let descriptor = descriptor.ok_or_else(|| BenchError::Run("there is no descriptor".to_owned()))?;
                self.import(driver, &descriptor, size)
            }
            Reach::Legacy { handle } => self.open(driver, &handle),
        }
    }

    fn import(&mut self, driver: &dyn Driver, from: &OwnedFd, size: ByteSize) -> Result<Vec<f64>, BenchError> {
        let (kind, rights) = (HandleType::POSIX_FILE_DESCRIPTOR, [AccessDesc::read_write(self.device.0)]);
        let from = OsHandle::Fd(from.as_fd());
        let (handle, import) = timed(|| driver.mem_import_from_shareable_handle(from, kind))?;
        let (ptr, reserve) = timed(|| driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0))?;
        let ((), map) = timed(|| driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0))?;
        let ((), set_access) = timed(|| driver.mem_set_access(ptr, size, &rights))?;
        self.reached = Some(Reached::Mapped { handle, ptr, size });
        Ok(vec![import, reserve, map, set_access, first_read(driver, ptr)?])
    }

    fn open(&mut self, driver: &dyn Driver, bytes: &[u8]) -> Result<Vec<f64>, BenchError> {
        let handle = IpcMemHandle(bytes.try_into().map_err(|_| BenchError::Run("it is no legacy handle".to_owned()))?);
        let (ptr, open) = timed(|| driver.ipc_open_mem_handle(&handle, IpcMemHandle::LAZY_ENABLE_PEER_ACCESS))?;
        self.reached = Some(Reached::Opened(ptr));
        Ok(vec![open, first_read(driver, ptr)?])
    }

    /// Gives back what was reached; gives the time of each step.
    pub(super) fn let_go(&mut self, driver: &dyn Driver) -> Result<Vec<f64>, BenchError> {
        Ok(match self.reached.take() {
            Some(Reached::Mapped { handle, ptr, size }) => {
                let ((), unmap) = timed(|| driver.mem_unmap(ptr, size))?;
                let ((), free) = timed(|| driver.mem_address_free(ptr, size))?;
                let ((), release) = timed(|| driver.mem_release(handle))?;
                vec![unmap, free, release]
            }
            Some(Reached::Opened(ptr)) => vec![timed(|| driver.ipc_close_mem_handle(ptr))?.1],
            None => Vec::new(),
        })
    }

    /// Allocates memory that who measures can open.
    pub(super) fn lend(&mut self, driver: &dyn Driver, size: ByteSize) -> Result<Vec<u8>, BenchError> {
        let ptr = driver.mem_alloc(size)?;
        self.lent = Some(ptr);
        Ok(driver.ipc_get_mem_handle(ptr)?.0.to_vec())
    }

    pub(super) fn take_back(&mut self, driver: &dyn Driver) -> Result<(), BenchError> {
        Ok(self.lent.take().map_or(Ok(()), |ptr| driver.mem_free(ptr))?)
    }
}

/// How long it takes to read a byte: only then has the memory proved to be there.
fn first_read(driver: &dyn Driver, ptr: DevicePtr) -> Result<f64, BenchError> {
    let mut byte = [0];
    Ok(timed(|| driver.memcpy_dtoh(&mut byte, ptr))?.1)
}
