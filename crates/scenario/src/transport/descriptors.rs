//! File descriptors that the parent handed out.

use std::os::fd::OwnedFd;

use peermap_driver::ShareableHandle;
use peermap_ipc::{Deadline, Member};

use super::{Meet, Transport, TransportError};

/// Descriptors of the parent. They go one way: workers have no channel to each other.
pub(super) struct Descriptors {
    received: Vec<OwnedFd>,
    member: Member,
}

impl Descriptors {
    pub(super) fn new(received: Vec<OwnedFd>, member: Member) -> Self {
        Self { received, member }
    }
}

impl Meet for Descriptors {
    fn meet(&mut self, deadline: Deadline) -> Result<(), TransportError> {
        self.member.meet(deadline)
    }
}

impl Transport for Descriptors {
    fn exchange(
        &mut self,
        own: Option<&ShareableHandle>,
        _deadline: Deadline,
    ) -> Result<Vec<ShareableHandle>, TransportError> {
        match own {
            None => Ok(self.received.drain(..).map(ShareableHandle::PosixFd).collect()),
            Some(_) => Err(TransportError::NotCarried { what: "a handle of a worker", how: "as a descriptor" }),
        }
    }
}
