//! Forks without an exec: noticing one, and making one on purpose.

use std::fs;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

use super::error::ChildError;
use super::exit::{Exit, exit_now};

/// How many forks lie between this process and the one that first asked.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A number that stays the same in a process, and is another one in a process that was forked from it: what belongs to one process
/// can tell that it is in another.
#[must_use]
pub fn forks() -> u32 {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // SAFETY: pthread_atfork(3) keeps a function that lives as long as the program; it adds to an atomic, which is
        // async-signal-safe. Without memory for it the number never changes, which is what it was before.
        unsafe { libc::pthread_atfork(None, None, Some(was_forked)) };
    });
    FORKS.load(Ordering::Relaxed)
}

extern "C" fn was_forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Forks this process without an exec, has the child do some work and end with the code that it gives, and waits for that.
///
/// # Errors
/// [`ChildError::Threads`] if this process has several threads; [`ChildError::System`].
pub fn forked(work: impl FnOnce() -> i32) -> Result<Exit, ChildError> {
    let tasks = fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if tasks != 1 {
        return Err(ChildError::Threads { threads: tasks });
    }
    // SAFETY: fork(2): only in a process of several threads is the child confined to async-signal-safe functions; this one has one.
    match unsafe { fork() }.map_err(ChildError::from_call("fork"))? {
        ForkResult::Child => exit_now(work()),
        ForkResult::Parent { child } => match waitpid(child, None).map_err(ChildError::from_call("waitpid"))? {
            WaitStatus::Signaled(_, signal, _) => Ok(Exit::Signal(signal as i32)),
            WaitStatus::Exited(_, code) => Ok(Exit::Code(code)),
            other => unreachable!("waitpid without options gave {other:?}"),
        },
    }
}
