//! The options of a module load as the driver takes them.

use std::ffi::c_void;

use peermap_driver::{JitLog, JitOptions};

use crate::device::text;

const MAX_REGISTERS: u32 = 0;
const INFO_LOG_BUFFER: u32 = 3;
const INFO_LOG_BUFFER_SIZE_BYTES: u32 = 4;
const ERROR_LOG_BUFFER: u32 = 5;
const ERROR_LOG_BUFFER_SIZE_BYTES: u32 = 6;
const LOG_VERBOSE: u32 = 12;

/// Options and their values, side by side, with the buffers that the values point into.
pub(crate) struct JitArrays {
    options: Vec<u32>,
    values: Vec<*mut c_void>,
    info: Vec<u8>,
    error: Vec<u8>,
}

impl JitArrays {
    /// The arrays for what is asked for. A log without room is not asked for at all.
    pub(crate) fn new(wanted: &JitOptions) -> Self {
        let mut arrays = Self {
            options: Vec::new(),
            values: Vec::new(),
            info: buffer(wanted.info_log.as_ref()),
            error: buffer(wanted.error_log.as_ref()),
        };
        if let Some(count) = wanted.max_registers {
            arrays.push(MAX_REGISTERS, number(count as usize));
        }
        if wanted.verbose {
            arrays.push(LOG_VERBOSE, number(1));
        }
        if !arrays.info.is_empty() {
            let start = arrays.info.as_mut_ptr().cast();
            arrays.push(INFO_LOG_BUFFER, start);
            arrays.push(INFO_LOG_BUFFER_SIZE_BYTES, number(arrays.info.len()));
        }
        if !arrays.error.is_empty() {
            let start = arrays.error.as_mut_ptr().cast();
            arrays.push(ERROR_LOG_BUFFER, start);
            arrays.push(ERROR_LOG_BUFFER_SIZE_BYTES, number(arrays.error.len()));
        }
        arrays
    }

    fn push(&mut self, option: u32, value: *mut c_void) {
        self.options.push(option);
        self.values.push(value);
    }

    /// How many options there are.
    pub(crate) const fn count(&self) -> u32 {
        self.options.len() as u32
    }

    /// The array of options.
    pub(crate) const fn options(&mut self) -> *mut u32 {
        self.options.as_mut_ptr()
    }

    /// The array of values. The driver overwrites the sizes with the lengths of the logs, which end in zero anyway.
    pub(crate) const fn values(&mut self) -> *mut *mut c_void {
        self.values.as_mut_ptr()
    }

    /// Hands over what the driver wrote into the logs.
    pub(crate) fn fill_logs(&self, wanted: &mut JitOptions) {
        for (log, buffer) in [(&mut wanted.info_log, &self.info), (&mut wanted.error_log, &self.error)] {
            if let Some(log) = log {
                log.fill(&text(buffer));
            }
        }
    }
}

/// A zeroed buffer for a log. The driver reads its size as an `unsigned int`.
fn buffer(log: Option<&JitLog>) -> Vec<u8> {
    vec![0; log.map_or(0, JitLog::capacity).min(u32::MAX as usize)]
}

/// A number in the place of a pointer, where the manual says that values are cast.
const fn number(value: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_stands_beside_its_value() {
        let mut arrays = JitArrays::new(&JitOptions::sample());
        let (info, error) = (arrays.info.as_mut_ptr().cast(), arrays.error.as_mut_ptr().cast());
        assert_eq!(arrays.options, [0, 3, 4, 5, 6]);
        assert_eq!(arrays.values, [number(32), info, number(1024), error, number(1024)]);
        assert_eq!(arrays.count(), 5);
    }

    #[test]
    fn a_compiler_that_shall_tell_more_is_told_so() {
        let arrays = JitArrays::new(&JitOptions { verbose: true, ..JitOptions::default() });
        assert_eq!((arrays.options, arrays.values), (vec![12], vec![number(1)]));
    }

    #[test]
    fn what_is_not_asked_for_is_not_there() {
        assert_eq!(JitArrays::new(&JitOptions::default()).count(), 0);
        let no_room = JitOptions { error_log: Some(JitLog::with_capacity(0)), ..JitOptions::default() };
        assert_eq!(JitArrays::new(&no_room).count(), 0);
    }

    #[test]
    fn each_log_gets_the_text_of_its_own_buffer() {
        let mut wanted = JitOptions::sample();
        let mut arrays = JitArrays::new(&wanted);
        arrays.info[..4].copy_from_slice(b"info");
        arrays.error[..5].copy_from_slice(b"error");
        arrays.fill_logs(&mut wanted);
        assert_eq!(wanted.info_log.as_ref().map(JitLog::text), Some("info"));
        assert_eq!(wanted.error_log.as_ref().map(JitLog::text), Some("error"));
    }
}
