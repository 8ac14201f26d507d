//! Waiting until a descriptor is ready.

use nix::errno::Errno;
use nix::poll::{PollFd, PollTimeout, poll, ppoll};
use nix::sys::time::TimeSpec;

use crate::{Deadline, stage};

/// Waits until one of `fds` is ready; `false` if the deadline passed first.
pub(crate) fn wait_ready(fds: &mut [PollFd<'_>], deadline: Deadline) -> Result<bool, Errno> {
    if let Some(stage) = stage::current() {
        let mut failed = None;
        let mut ready = || match poll(fds, PollTimeout::ZERO) {
            Ok(count) => count > 0,
            Err(errno) => failed.replace(errno).is_none(),
        };
        let is_ready = stage.wait(&mut ready, deadline.moment());
        return failed.map_or(Ok(is_ready), Err);
    }
    loop {
        match ppoll(fds, deadline.remaining().map(TimeSpec::from), None) {
            // A signal handler ran. The loop computes the remaining time anew.
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
            Ok(ready) => return Ok(ready > 0),
        }
    }
}
