//! H1: after hours, messages came without their descriptors.
//!
//! At its limit of open files a process gets the bytes of a message, and not all of its descriptors. For any number of descriptors and
//! any room that is left: either all of them come, or an error that names the limit, and what had come is closed.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use peermap_ipc::{Channel, Deadline, IpcError, limits};

use super::room::with_room_for;
use crate::expect::{holds, same};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(_stage: &Stage) -> Result<(), Trouble> {
    for sent in 1..=6 {
        for room in 0..=sent {
            arrive(sent, room)?;
        }
    }
    Ok(())
}

fn arrive(sent: usize, room: usize) -> Result<(), Trouble> {
    let (here, there) = Channel::pair()?;
    let open = limits::open_descriptors()?;
    let descriptors: Vec<BorrowedFd<'_>> = (0..sent).map(|_| there.as_fd()).collect();
    there.send(b"!", &descriptors, soon())?;
    let received = with_room_for(room, || here.recv(sent, soon()))?;
    match received {
        Ok(received) => same("descriptors that come", (received.fds.len(), room), (sent, sent))?,
        Err(error @ IpcError::DescriptorsTruncated { received, .. }) => {
            holds("no more come than there is room for", received <= room && room < sent, (received, room))?;
            holds("the error says what to do", error.to_string().contains("ulimit -n"), error)?;
        }
        Err(error) => return Err(error.into()),
    }
    same("open descriptors afterwards", limits::open_descriptors()?, open)?;
    there.send(b"on", &[], soon())?;
    same("the next message", here.recv(0, soon())?.payload, b"on".to_vec())
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5))
}
