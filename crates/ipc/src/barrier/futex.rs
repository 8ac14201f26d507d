//! Sleeping on a word in shared memory.

use std::hint::spin_loop;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use nix::errno::Errno;

use super::algorithm::{Woken, Word};
use crate::{Deadline, stage};

impl Word for AtomicU32 {
    fn compare_exchange(&self, current: u32, new: u32, ok: Ordering, failed: Ordering) -> Result<u32, u32> {
        Self::compare_exchange(self, current, new, ok, failed)
    }

    fn fence() {
        fence(Ordering::SeqCst);
    }

    fn spin() {
        spin_loop();
    }

    fn sleep_while(&self, value: u32, deadline: Deadline) -> Result<Woken, Errno> {
        if let Some(stage) = stage::current() {
            let has_changed = stage.wait(&mut || Self::load(self, Ordering::Relaxed) != value, deadline.moment());
            return Ok(if has_changed { Woken::LookAgain } else { Woken::DeadlinePassed });
        }
        let timeout = deadline.remaining().map(timespec);
        let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        // Not FUTEX_PRIVATE_FLAG: the members are different processes.
        // SAFETY: futex(2), FUTEX_WAIT: the address is that of an aligned 32-bit word that outlives the call, and the
        // timeout is null or points to a timespec that outlives it.
        let result = unsafe { libc::syscall(libc::SYS_futex, self.as_ptr(), libc::FUTEX_WAIT, value, timeout) };
        match Errno::result(result) {
            Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => Ok(Woken::LookAgain),
            Err(Errno::ETIMEDOUT) => Ok(Woken::DeadlinePassed),
            Err(errno) => Err(errno),
        }
    }

    fn wake_all(&self) -> Result<(), Errno> {
        // SAFETY: futex(2), FUTEX_WAKE: the address is that of an aligned 32-bit word; the kernel does not write to it.
        let result = unsafe { libc::syscall(libc::SYS_futex, self.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        Errno::result(result).map(drop)
    }
}

fn timespec(duration: std::time::Duration) -> libc::timespec {
    libc::timespec {
        // A clock's seconds fit: the duration is a difference of two of its moments.
        tv_sec: libc::time_t::try_from(duration.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(duration.subsec_nanos()),
    }
}
