//! Any number of descriptors, in batches that the receiver acknowledges.
//!
//! The kernel lets an ordinary user have only about `RLIMIT_NOFILE` descriptors in messages that nobody has received yet,
//! summed over all of the user's processes. So the next batch is sent only when the last one has been taken.

use std::os::fd::{BorrowedFd, OwnedFd};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::frame::{Kind, PacketError};
use super::typed::TypedChannel;
use crate::{Deadline, IpcError, MAX_FDS_PER_MESSAGE};

/// What stands in a batch beside its descriptors.
#[derive(Debug, Serialize, Deserialize)]
struct Batch {
    /// Descriptors in all batches together.
    total: u64,
    /// Descriptors handed over before this batch.
    first: u64,
}

/// The receiver's answer to a batch: how many descriptors it has by now.
#[derive(Debug, Serialize, Deserialize)]
struct Taken {
    count: u64,
}

impl<Tx: Serialize, Rx: DeserializeOwned> TypedChannel<Tx, Rx> {
    /// Hands any number of descriptors over, `batch` at a time. The peer calls [`TypedChannel::recv_fds`] with the same
    /// number of descriptors. No value may be on its way in the other direction meanwhile.
    ///
    /// # Units
    /// `batch` counts descriptors, from 1 to [`MAX_FDS_PER_MESSAGE`]. An ordinary user needs a batch that is clearly
    /// smaller than `RLIMIT_NOFILE`. `deadline` holds for all batches together.
    ///
    /// # Errors
    /// [`IpcError::BatchSize`]; [`PacketError::WrongBatch`] and [`PacketError::WrongKind`] if the peer answers with
    /// something else; and as [`Channel::send`](crate::Channel::send). After an error the peer may have any part of them.
    pub fn send_fds(&mut self, fds: &[BorrowedFd<'_>], batch: usize, deadline: Deadline) -> Result<(), IpcError> {
        if !(1..=MAX_FDS_PER_MESSAGE).contains(&batch) {
            return Err(IpcError::BatchSize { given: batch, max: MAX_FDS_PER_MESSAGE });
        }
        let mut sent = 0;
        loop {
            let part = &fds[sent..fds.len().min(sent + batch)];
            let header = Batch { total: fds.len() as u64, first: sent as u64 };
            self.send_packet(Kind::Batch, &header, part, deadline)?;
            sent += part.len();
            let (taken, _) = self.recv_packet::<Taken>(Kind::BatchTaken, 0, deadline)?;
            check_position(sent, taken.count)?;
            // The test stands at the end, so that an empty list is one batch too and both sides meet.
            if sent == fds.len() {
                return Ok(());
            }
        }
    }

    /// Receives `count` descriptors from a peer that calls [`TypedChannel::send_fds`].
    ///
    /// # Errors
    /// [`PacketError::WrongDescriptorTotal`] if the peer announces another number, [`PacketError::WrongBatch`] if a batch
    /// does not continue the last one, [`IpcError::DescriptorsTruncated`] if this process may not have that many open, and
    /// as [`Channel::recv`](crate::Channel::recv). After an error all descriptors received so far are closed.
    pub fn recv_fds(&mut self, count: usize, deadline: Deadline) -> Result<Vec<OwnedFd>, IpcError> {
        let mut taken: Vec<OwnedFd> = Vec::new();
        loop {
            let left = count - taken.len();
            let (batch, fds) = self.recv_packet::<Batch>(Kind::Batch, MAX_FDS_PER_MESSAGE, deadline)?;
            if batch.total != count as u64 {
                let announced = usize::try_from(batch.total).unwrap_or(usize::MAX);
                return Err(PacketError::WrongDescriptorTotal { expected: count, announced }.into());
            }
            check_position(taken.len(), batch.first)?;
            if fds.len() > left {
                return Err(IpcError::UnexpectedDescriptors { received: fds.len(), accepted: left });
            }
            // Else a peer that sends empty batches could keep this loop busy for ever.
            if fds.is_empty() && left > 0 {
                return Err(PacketError::WrongBatch { expected: taken.len() + 1, found: taken.len() }.into());
            }
            taken.extend(fds);
            self.send_packet(Kind::BatchTaken, &Taken { count: taken.len() as u64 }, &[], deadline)?;
            if taken.len() == count {
                return Ok(taken);
            }
        }
    }
}

fn check_position(expected: usize, found: u64) -> Result<(), PacketError> {
    if found == expected as u64 {
        return Ok(());
    }
    Err(PacketError::WrongBatch { expected, found: usize::try_from(found).unwrap_or(usize::MAX) })
}
