//! Why a step could not be played, and how a call can fail.

use nix::errno::Errno;
use peermap_driver::DriverError;
use peermap_ipc::{Exit, IpcError};

use super::processes::StartError;
use crate::call::StepCall;

/// Why a step was not played. It counts as a mismatch: nothing is skipped silently.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The player or the driver trait does not have the call yet.
    #[error("{call} cannot be played yet")]
    NotPlayable {
        /// The call.
        call: StepCall,
    },
    /// An argument without a default is absent.
    #[error("the argument `{key}` is missing")]
    MissingArgument {
        /// The argument.
        key: &'static str,
    },
    /// The call has no such argument.
    #[error("{call} has no argument `{key}`")]
    UnknownArgument {
        /// The argument.
        key: String,
        /// The call.
        call: StepCall,
    },
    /// An argument has another type than the call asks for.
    #[error("the argument `{key}` is {got}, but must be {expected}")]
    WrongArgument {
        /// The argument.
        key: &'static str,
        /// What the call asks for.
        expected: &'static str,
        /// The argument as it is written.
        got: String,
    },
    /// The call that names a value failed when it was played, so that the value is missing.
    #[error("`{name}` has no value here, because the call that names it did not succeed")]
    NoValue {
        /// The name.
        name: String,
    },
    /// An address and an offset leave the address space.
    #[error("{reference} is no address: it leaves the 64-bit address space")]
    AddressOverflow {
        /// The reference.
        reference: String,
    },
    /// The step names a value, but the call gives none.
    #[error("the step names a value `{name}`, but {call} gives none")]
    NothingToName {
        /// The name.
        name: String,
        /// The call.
        call: StepCall,
    },
    /// A copy is larger than the player takes.
    #[error("a copy of {size} bytes through the host; the player takes at most {most}")]
    HostBuffer {
        /// How many bytes the step copies.
        size: u64,
        /// The most that the player takes.
        most: u64,
    },
    /// The kernels of the recordings do not include this one.
    #[error("no kernel `{kernel}` among those of the recordings")]
    UnknownKernel {
        /// The name.
        kernel: String,
    },
    /// The arguments do not fit the kernel. The driver would read beyond them.
    #[error("the kernel `{kernel}` takes ({expected}), not ({got})")]
    KernelArguments {
        /// The kernel.
        kernel: &'static str,
        /// The types of its parameters.
        expected: String,
        /// The types in the trace.
        got: String,
    },
    /// The process of the step could not be started.
    #[error("process {process} could not be started")]
    Start {
        /// The process.
        process: u32,
        /// Why.
        source: StartError,
    },
    /// The OS process that plays the step says why it could not.
    #[error("{why}")]
    Elsewhere {
        /// Its own error in words.
        why: String,
    },
    /// The OS process that plays the step cannot be spoken to.
    #[error("process {process} cannot be spoken to")]
    Unreachable {
        /// The process.
        process: u32,
        /// What is wrong with the channel.
        source: IpcError,
    },
    /// The OS process that plays the step answered something else.
    #[error("process {process} answered out of turn")]
    OutOfTurn {
        /// The process.
        process: u32,
    },
    /// The step's process, or the receiver of a `send`, ended in an earlier step or could not be started there.
    #[error("process {process} is not running at this step: it has ended, or it could not be started")]
    NotRunning {
        /// The process.
        process: u32,
    },
}

/// A process that ended before its first step, as the source of [`PlayError::Start`].
#[derive(Debug, thiserror::Error)]
#[error("it ended at once: {0}")]
pub(crate) struct DiedAtStart(pub(crate) Exit);

/// How a call can fail: the driver or the system refused it, or it could not be made.
#[derive(Debug)]
pub(super) enum Failure {
    Driver(DriverError),
    Os(Errno),
    Play(PlayError),
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        Self::Play(error)
    }
}
