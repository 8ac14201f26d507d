//! Why a trace could not be generated.

use crate::player::StartError;

/// Why a trace could not be generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The backend has no fresh machine to play on.
    #[error("no machine to play on")]
    Machine(#[source] StartError),
    /// The backend gives no answer to a step that it should have one for.
    #[error("process {process} calls {step} and gets no answer that a trace could hold: {got}")]
    NoAnswer {
        /// The process.
        process: u32,
        /// The step.
        step: String,
        /// What came of it.
        got: String,
    },
    /// There are no processes or no devices.
    #[error("a trace needs at least one process and one device, not {processes} and {devices}")]
    Nothing {
        /// How many processes were asked for.
        processes: u32,
        /// How many devices were asked for.
        devices: u32,
    },
}
