//! Loads and stores of the CPU to mapped memory of the host.

use peermap_driver::{ByteSize, Call, DevicePtr, DriverError, Result};
use peermap_memory::{Fault, FaultKind};
use peermap_model::rules;

use crate::process::Inner;

impl Inner {
    pub(crate) fn host_read(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        self.look_at_rights()?;
        self.memory.host_view().read(src.get(), dst).map_err(|fault| refusal(src, dst.len(), &fault))
    }

    pub(crate) fn host_write(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
        self.look_at_rights()?;
        self.memory.host_view().write(dst.get(), src).map_err(|fault| refusal(dst, src.len(), &fault))
    }

    /// The question that the real driver is asked first. As every call it lets work go on that is overdue, so that who waits for
    /// a kernel with the CPU does not wait for ever.
    fn look_at_rights(&self) -> Result<()> {
        self.enter(Call::cuMemGetAccess).map(drop)
    }
}

fn refusal(ptr: DevicePtr, len: usize, fault: &Fault) -> DriverError {
    match fault.kind {
        FaultKind::HostMemory(_) | FaultKind::HostMapping(_) => DriverError::Host { what: fault.to_string() },
        FaultKind::NotMapped
        | FaultKind::NoReadAccess
        | FaultKind::NoWriteAccess
        | FaultKind::Misaligned { .. }
        | FaultKind::Multicast
        | FaultKind::Unbound { .. } => {
            let (size, at) = (ByteSize::from(len), DevicePtr::new(fault.address));
            rules::CPU_1.refuse(&[("ptr", &ptr), ("size", &size), ("refused_at", &at)], None)
        }
    }
}
