//! How a child ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It returned or called `exit` with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl Exit {
    /// Whether the child ended with code 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    pub(super) fn from_status(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => Self::Code(code),
            // wait(2): a status that was waited for without WUNTRACED is an exit or a signal, nothing else.
            None => Self::Signal(status.signal().unwrap_or_default()),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => match Signal::try_from(number) {
                Ok(signal) => write!(f, "killed by {signal}"),
                Err(_) => write!(f, "killed by signal {number}"),
            },
        }
    }
}

/// Ends this process at once: nothing is unwound, no handler of the C library or of a loaded driver runs.
///
/// # Source
/// `_exit` in exit(2).
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit(2) touches no memory and does not return.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_signal_or_the_code() {
        assert_eq!(Exit::Signal(9).to_string(), "killed by SIGKILL");
        assert_eq!(Exit::Signal(40).to_string(), "killed by signal 40");
        assert_eq!(Exit::Code(3).to_string(), "exit code 3");
    }

    #[test]
    fn a_wait_status_is_told_apart() {
        assert_eq!(Exit::from_status(ExitStatus::from_raw(3 << 8)), Exit::Code(3));
        assert_eq!(Exit::from_status(ExitStatus::from_raw(11)), Exit::Signal(11));
    }
}
