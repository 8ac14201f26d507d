//! Waiting until a descriptor is ready.

use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;

use crate::Deadline;

/// Waits until one of `fds` is ready; `false` if the deadline passed first.
pub(crate) fn wait_ready(fds: &mut [PollFd<'_>], deadline: Deadline) -> Result<bool, Errno> {
    loop {
        match ppoll(fds, deadline.remaining().map(TimeSpec::from), None) {
            // A signal handler ran. The loop computes the remaining time anew.
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
            Ok(ready) => return Ok(ready > 0),
        }
    }
}
