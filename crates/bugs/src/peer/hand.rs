//! A second process that lives in this OS process, and what each order is.

use std::os::fd::OwnedFd;

use peermap_driver::{ByteSize, DevicePtr, DriverError, HandleType, IpcMemHandle, ShareableHandle};

use super::order::{Answer, Order};
use super::{Asked, Peer};
use crate::process::Process;
use crate::trouble::Trouble;

/// A process that does what it is told.
pub(crate) struct Hand {
    process: Process,
}

impl Hand {
    pub(crate) const fn new(process: Process) -> Self {
        Self { process }
    }

    pub(super) fn answer(&self, order: &Order) -> Result<(Answer, Option<OwnedFd>), DriverError> {
        let process = &self.process;
        let answer = match order {
            Order::Context { ordinal } => process.context(*ordinal).map(|_| Answer::Done)?,
            Order::Devices => {
                let all = (0..process.device_get_count()?).map(|ordinal| process.device_get(ordinal));
                Answer::Devices(all.map(|device| process.device_get_uuid(device?)).collect::<Result<_, _>>()?)
            }
            Order::Open { handle } => {
                let mut bytes = [0; 64];
                bytes.iter_mut().zip(handle).for_each(|(to, from)| *to = *from);
                let ptr = process.ipc_open_mem_handle(&IpcMemHandle(bytes), IpcMemHandle::LAZY_ENABLE_PEER_ACCESS)?;
                Answer::Address(ptr.get())
            }
            Order::Close { ptr } => process.ipc_close_mem_handle(DevicePtr::new(*ptr)).map(|()| Answer::Done)?,
            Order::Read { ptr, count } => Answer::Bytes(process.read(DevicePtr::new(*ptr), *count)?),
            Order::Share { size } => {
                let handle = process.create(ByteSize::new(*size))?;
                let shared = process.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
                return Ok((Answer::Shared, ShareableHandle::into_posix_fd(shared)));
            }
        };
        Ok((answer, None))
    }
}

impl Peer for Hand {
    fn obey(&mut self, order: &Order) -> Asked<(Answer, Option<OwnedFd>)> {
        Ok(self.answer(order))
    }

    /// A simulated process ends when nobody has it any more.
    fn kill(self: Box<Self>) -> Result<(), Trouble> {
        drop(self);
        Ok(())
    }
}
