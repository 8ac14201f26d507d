//! Options of a module load.

/// A log that the compiler of the driver writes into: a buffer of a fixed size, as the driver wants it.
///
/// # Units
/// The capacity counts bytes, the terminating zero included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JitLog {
    capacity: usize,
    text: String,
}

impl JitLog {
    /// An empty log of a size.
    #[must_use]
    pub const fn with_capacity(capacity: usize) -> Self {
        Self { capacity, text: String::new() }
    }

    /// How many bytes the driver may write, the terminating zero included.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// What the driver wrote.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the text by what the driver wrote, cut where the buffer ends.
    pub fn fill(&mut self, text: &str) {
        let room = self.capacity.saturating_sub(1);
        let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text[..end].clone_into(&mut self.text);
    }
}

/// How a module is to be compiled (`CUjit_option`), with the logs that come back whether it succeeds or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JitOptions {
    /// The most registers a thread may use (`CU_JIT_MAX_REGISTERS`).
    pub max_registers: Option<u32>,
    /// Whether the compiler tells what each kernel takes, and not only what it warns of (`CU_JIT_LOG_VERBOSE`).
    pub verbose: bool,
    /// What the compiler had to say (`CU_JIT_INFO_LOG_BUFFER`).
    pub info_log: Option<JitLog>,
    /// What was wrong (`CU_JIT_ERROR_LOG_BUFFER`).
    pub error_log: Option<JitLog>,
}

impl JitOptions {
    /// The options of NVIDIA's memMapIPCDrv sample: both logs of 1,024 bytes, at most 32 registers.
    #[must_use]
    pub const fn sample() -> Self {
        Self {
            max_registers: Some(32),
            verbose: false,
            info_log: Some(JitLog::with_capacity(1024)),
            error_log: Some(JitLog::with_capacity(1024)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_where_its_buffer_ends() {
        let mut log = JitLog::with_capacity(5);
        log.fill("äöü");
        assert_eq!(log.text(), "äö");
        log.fill("abc");
        assert_eq!(log.text(), "abc");
    }

    #[test]
    fn a_log_without_room_stays_empty() {
        let mut log = JitLog::default();
        log.fill("abc");
        assert_eq!(log.text(), "");
    }
}
