//! How a step ends.

use std::fmt;

use nix::errno::Errno;
use nix::sys::signal::Signal;
use peermap_driver::CuResult;

use crate::call::StepCall;

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepResult {
    /// The driver answered.
    Cuda(CuResult),
    /// A step outside the driver did what it was asked.
    Ok,
    /// The system refused a step outside the driver.
    Errno(Errno),
    /// The call ended the process: the driver followed a handle that is gone or was made up (`SIGSEGV`).
    SegmentationFault,
    /// The call ended the process by another signal, such as `SIGABRT`. None of the fixtures has it.
    Signal(Signal),
    /// The call did not come back in the time that a recorder gives each step (`TIMEOUT`); the process was killed.
    /// None of the fixtures has it.
    TimedOut,
}

/// How the recordings write [`StepResult::TimedOut`].
const TIMEOUT: &str = "TIMEOUT";

impl StepResult {
    /// The result of a name, if `call` can end so: a driver call in a `CUresult`, a signal or `TIMEOUT`, a step outside
    /// the driver in `OK` or an errno name.
    #[must_use]
    pub fn from_name(call: StepCall, name: &str) -> Option<Self> {
        match (call.os_step(), name) {
            (Some(_), "OK") => Some(Self::Ok),
            (Some(_), _) => errno(name).map(Self::Errno),
            (None, TIMEOUT) => Some(Self::TimedOut),
            (None, _) => cuda(name).map(Self::Cuda).or_else(|| name.parse().ok().map(Self::from_signal)),
        }
    }

    /// The end of a call that ended its process.
    #[must_use]
    pub fn from_signal(signal: Signal) -> Self {
        if signal == Signal::SIGSEGV { Self::SegmentationFault } else { Self::Signal(signal) }
    }

    /// Whether the process ended with the step.
    #[must_use]
    pub const fn ends_the_process(self) -> bool {
        matches!(self, Self::SegmentationFault | Self::Signal(_) | Self::TimedOut)
    }

    /// How `call` ends when it does what it was asked.
    #[must_use]
    pub fn success_of(call: StepCall) -> Self {
        if call.os_step().is_some() { Self::Ok } else { Self::Cuda(CuResult::SUCCESS) }
    }

    /// Whether the step did what it was asked.
    #[must_use]
    pub fn is_success(self) -> bool {
        matches!(self, Self::Ok | Self::Cuda(CuResult::SUCCESS))
    }
}

/// Names with their prefix only; a code that has no name here is written by its number.
fn cuda(name: &str) -> Option<CuResult> {
    let code = match name.strip_prefix("CUDA_ERROR_CODE_") {
        Some(number) => CuResult::new(number.parse().ok()?),
        None => CuResult::from_name(name)?,
    };
    (code.name() == name).then_some(code)
}

fn errno(name: &str) -> Option<Errno> {
    const LAST: i32 = 133;
    (1..=LAST).map(Errno::from_raw).find(|errno| *errno != Errno::UnknownErrno && format!("{errno:?}") == name)
}

impl fmt::Display for StepResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cuda(result) => write!(f, "{result}"),
            Self::Ok => f.write_str("OK"),
            Self::Errno(errno) => write!(f, "{errno:?}"),
            Self::SegmentationFault => f.write_str("SIGSEGV"),
            Self::Signal(signal) => f.write_str(signal.as_str()),
            Self::TimedOut => f.write_str(TIMEOUT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(call: &str, name: &str) -> Option<StepResult> {
        StepResult::from_name(StepCall::from_name(call)?, name)
    }

    #[test]
    fn results_read_back_as_they_are_written() {
        let results = [
            ("cuInit", "CUDA_SUCCESS"),
            ("cuInit", "CUDA_ERROR_NOT_FOUND"),
            ("cuInit", "CUDA_ERROR_CODE_123456"),
            ("cuMemMap", "SIGSEGV"),
            ("cuMemMap", "SIGABRT"),
            ("cuMemMap", "TIMEOUT"),
            ("send", "OK"),
            ("close_fd", "EBADF"),
        ];
        for (call, name) in results {
            assert_eq!(read(call, name).map(|result| result.to_string()).as_deref(), Some(name), "{call}");
        }
    }

    #[test]
    fn each_kind_of_call_has_results_of_its_own() {
        let wrong = [
            ("cuInit", "OK"),
            ("cuInit", "EBADF"),
            ("cuInit", "SUCCESS"),
            ("cuInit", "CUDA_ERROR_CODE_1"),
            ("send", "CUDA_SUCCESS"),
            ("send", "SIGSEGV"),
            ("send", "UnknownErrno"),
        ];
        for (call, name) in wrong {
            assert_eq!(read(call, name), None, "{call} {name}");
        }
    }
}
