//! A second process, for what only two processes can do.
//!
//! It does what it is [told](order::Order). On the simulator it lives in this OS process ([`Hand`]), on a real driver in one of
//! its own, at the other end of a channel ([`Remote`]).

mod hand;
mod order;
mod remote;

use std::os::fd::OwnedFd;

use peermap_driver::{Device, DevicePtr, DriverError, IpcMemHandle, Uuid};

use crate::trouble::Trouble;
pub(crate) use hand::Hand;
pub(crate) use order::Shared;
use order::{Answer, Order};
pub(crate) use remote::{Remote, serve};

/// What a peer was asked for, or the driver's refusal.
type Asked<T> = Result<Result<T, DriverError>, Trouble>;

/// A second process.
pub(crate) trait Peer {
    /// Does what it is told; a descriptor may come beside the answer.
    fn obey(&mut self, order: &Order) -> Asked<(Answer, Option<OwnedFd>)>;

    /// Ends it at once.
    fn kill(self: Box<Self>) -> Result<(), Trouble>;
}

impl dyn Peer + '_ {
    fn done(&mut self, order: &Order) -> Asked<()> {
        Ok(self.obey(order)?.map(drop))
    }

    /// Makes a context on a device, by this process's own number.
    pub(crate) fn context(&mut self, device: Device) -> Asked<()> {
        self.done(&Order::Context { ordinal: device.0 })
    }

    /// The devices that it sees, in its order.
    pub(crate) fn devices(&mut self) -> Asked<Vec<Uuid>> {
        match self.obey(&Order::Devices)? {
            Ok((Answer::Devices(uuids), _)) => Ok(Ok(uuids)),
            Ok((other, _)) => Err(other.unexpected()),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Opens memory by its legacy handle.
    pub(crate) fn open(&mut self, handle: &IpcMemHandle) -> Asked<DevicePtr> {
        match self.obey(&Order::Open { handle: handle.0.to_vec() })? {
            Ok((Answer::Address(ptr), _)) => Ok(Ok(DevicePtr::new(ptr))),
            Ok((other, _)) => Err(other.unexpected()),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Closes it.
    pub(crate) fn close(&mut self, ptr: DevicePtr) -> Asked<()> {
        self.done(&Order::Close { ptr: ptr.get() })
    }

    /// The bytes at one of its addresses.
    pub(crate) fn read(&mut self, ptr: DevicePtr, count: usize) -> Asked<Vec<u8>> {
        match self.obey(&Order::Read { ptr: ptr.get(), count })? {
            Ok((Answer::Bytes(bytes), _)) => Ok(Ok(bytes)),
            Ok((other, _)) => Err(other.unexpected()),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Allocates memory and exports it as a descriptor; its handle stays.
    pub(crate) fn share(&mut self, size: u64) -> Asked<Shared> {
        match self.obey(&Order::Share { size })? {
            Ok((Answer::Shared, Some(descriptor))) => Ok(Ok(Shared(descriptor))),
            Ok((other, _)) => Err(other.unexpected()),
            Err(refused) => Ok(Err(refused)),
        }
    }
}
