//! H2: what lay in a control buffer was taken for a descriptor.
//!
//! With control messages of other kinds in between, and with any room left: a message comes with exactly the files that were sent with
//! it, in their order, or it is an error and nothing stays open. No number is used that the kernel did not give.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use peermap_ipc::{Channel, Deadline, IpcError, limits};

use super::room::with_room_for;
use crate::expect::same;
use crate::stage::Stage;
use crate::trouble::Trouble;

/// The most files of a message.
const MOST: usize = 5;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let files = (0..MOST).map(|_| tempfile::tempfile().map(OwnedFd::from)).collect::<Result<Vec<_>, _>>();
    let files = files.map_err(Trouble::system("open"))?;
    for _ in 0..80 {
        let (here, there) = Channel::pair()?;
        // The kernel then puts a control message of another kind before the descriptors.
        setsockopt(&here, sockopt::PassCred, &random.bool()).map_err(Trouble::system("setsockopt"))?;
        let sent = &files[..random.usize(1..=MOST)];
        let open = limits::open_descriptors()?;
        let descriptors: Vec<_> = sent.iter().map(AsFd::as_fd).collect();
        there.send(b"files", &descriptors, soon())?;
        match with_room_for(random.usize(0..=MOST), || here.recv(MOST, soon()))? {
            Ok(received) => same("the files that come", identities(&received.fds)?, identities(sent)?)?,
            Err(IpcError::DescriptorsTruncated { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        same("open descriptors afterwards", limits::open_descriptors()?, open)?;
    }
    Ok(())
}

fn identities(files: &[OwnedFd]) -> Result<Vec<(u64, u64)>, Trouble> {
    let of = |file: &OwnedFd| {
        let status = std::fs::File::from(file.try_clone()?).metadata()?;
        Ok((status.dev(), status.ino()))
    };
    files.iter().map(of).collect::<Result<_, _>>().map_err(Trouble::system::<std::io::Error>("fstat"))
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5))
}
