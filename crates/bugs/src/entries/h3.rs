//! H3: a message with about 300 descriptors could not be sent.
//!
//! The kernel takes 253 and no more; one more is refused before anything is sent, with both numbers. Any number gets across in batches,
//! in order.

use std::io::{IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use peermap_ipc::{Channel, Deadline, IpcError, MAX_FDS_PER_MESSAGE, TypedChannel};

use crate::expect::same;
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let (here, there) = Channel::pair()?;
    for count in [1, 2, MAX_FDS_PER_MESSAGE - 1, MAX_FDS_PER_MESSAGE] {
        there.send(b"!", &vec![here.as_fd(); count], soon())?;
        same("descriptors that come", here.recv(count, soon())?.fds.len(), count)?;
    }
    for given in [MAX_FDS_PER_MESSAGE + 1, random.usize(300..2000)] {
        let refusal = there.send(b"!", &vec![here.as_fd(); given], soon());
        let expected = Err(IpcError::TooManyDescriptors { given, max: MAX_FDS_PER_MESSAGE });
        same("what too many are answered", refusal, expected)?;
        same("what the kernel itself says", sent_by_the_kernel(&there, given), Err(Errno::EINVAL))?;
    }
    for _ in 0..3 {
        in_batches(random.usize(MAX_FDS_PER_MESSAGE + 1..400), random.usize(1..=MAX_FDS_PER_MESSAGE))?;
    }
    Ok(())
}

fn sent_by_the_kernel(channel: &Channel, given: usize) -> Result<usize, Errno> {
    let numbers = vec![channel.as_fd().as_raw_fd(); given];
    let socket = channel.as_fd().as_raw_fd();
    sendmsg::<()>(socket, &[IoSlice::new(b"!")], &[ControlMessage::ScmRights(&numbers)], MsgFlags::empty(), None)
}

/// Sends files in a row of which each has a size of its own, in batches.
fn in_batches(count: usize, batch: usize) -> Result<(), Trouble> {
    let files = [3, 1, 2].map(file_of);
    let files = files.into_iter().collect::<Result<Vec<_>, _>>().map_err(Trouble::system::<std::io::Error>("write"))?;
    let sent: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).cycle().take(count).collect();
    let (mut ours, mut theirs) = TypedChannel::<(), ()>::pair()?;
    let (sending, received) = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| theirs.recv_fds(count, soon()));
        (ours.send_fds(&sent, batch, soon()), receiver.join())
    });
    sending?;
    let received = received.map_err(|_| Trouble::not_here("the receiving thread ended"))??;
    let sizes = received.into_iter().map(|fd| std::fs::File::from(fd).metadata().map(|status| status.size()));
    let sizes = sizes.collect::<Result<Vec<_>, _>>().map_err(Trouble::system("fstat"))?;
    same("what comes in batches", sizes, [3, 1, 2].into_iter().cycle().take(count).collect())
}

fn file_of(size: usize) -> std::io::Result<OwnedFd> {
    let mut file = tempfile::tempfile()?;
    file.write_all(&vec![0; size])?;
    Ok(file.into())
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(10))
}
