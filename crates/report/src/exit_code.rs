//! How the command ends.

/// An exit code of the command. The numbers never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything went as it should.
    Ok = 0,
    /// Something went wrong that has no code of its own, such as a limit of this host.
    Unexpected = 1,
    /// The command was asked for something that cannot be.
    Usage = 2,
    /// A benchmark became slower.
    Regression = 10,
    /// Memory did not hold what it should, or a recording was answered differently.
    Mismatch = 11,
    /// The backend, or a device that can be used, is missing.
    BackendUnavailable = 12,
    /// A worker, or another process that the command needs, died; or the time ran out.
    WorkerLost = 13,
    /// The simulator does not model what was asked.
    NotModelled = 14,
    /// A benchmark gives no clear verdict.
    Ambiguous = 15,
    /// A driver call failed.
    DriverError = 16,
    /// Work on a device faulted.
    DeviceFault = 17,
    /// A check of the simulator that was turned on found a mistake in a kernel.
    Finding = 18,
}

impl ExitCode {
    /// Every code, in ascending order.
    pub const ALL: &[Self] = &[
        Self::Ok,
        Self::Unexpected,
        Self::Usage,
        Self::Regression,
        Self::Mismatch,
        Self::BackendUnavailable,
        Self::WorkerLost,
        Self::NotModelled,
        Self::Ambiguous,
        Self::DriverError,
        Self::DeviceFault,
        Self::Finding,
    ];

    /// The number that the shell sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// What the code means, in a few words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unexpected => "unexpected error or limit of this host",
            Self::Usage => "wrong usage",
            Self::Regression => "regression",
            Self::Mismatch => "memory did not hold what it should, or a recording was answered differently",
            Self::BackendUnavailable => "backend unavailable or no usable device",
            Self::WorkerLost => "a process of the command died, or the time ran out",
            Self::NotModelled => "not modelled by the simulator",
            Self::Ambiguous => "ambiguous verdict",
            Self::DriverError => "driver error",
            Self::DeviceFault => "device fault",
            Self::Finding => "a check of the simulator found a mistake: in a kernel, or in how memory was given back",
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_documented_ones() {
        let numbers: Vec<u8> = ExitCode::ALL.iter().map(|code| code.code()).collect();
        assert_eq!(numbers, [0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
    }

    #[test]
    fn no_two_codes_mean_the_same() {
        let meanings: std::collections::BTreeSet<_> = ExitCode::ALL.iter().map(|code| code.meaning()).collect();
        assert_eq!(meanings.len(), ExitCode::ALL.len());
    }
}
