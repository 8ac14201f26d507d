//! What kernels print.

use std::collections::VecDeque;
use std::io::{Write, stdout};
use std::sync::{Mutex, PoisonError};

/// As much as a launch may print; where it prints more, what came first is lost.
///
/// # Source
/// CUDA C++ Programming Guide, "Formatted Output": a buffer of 1 MiB, in which the oldest output is written over.
const MOST_BYTES: usize = 1 << 20;

/// What the threads of a launch have printed.
#[derive(Default)]
pub(crate) struct Printed(Mutex<Texts>);

#[derive(Default)]
struct Texts {
    texts: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Printed {
    /// Adds what one call prints.
    pub(crate) fn add(&self, text: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.texts.push_back(text.to_vec());
        all.bytes += text.len();
        while all.bytes > MOST_BYTES {
            let lost = all.texts.pop_front().map_or(0, |text| text.len());
            all.bytes -= lost;
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).texts.into_iter().flatten().collect()
    }
}

/// Where it goes.
#[derive(Default)]
pub(crate) struct Printer(Mutex<Option<Box<dyn Fn(&[u8]) + Send + Sync>>>);

impl Printer {
    pub(crate) fn set(&self, printer: Box<dyn Fn(&[u8]) + Send + Sync>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(printer);
    }

    /// Prints what a launch leaves when it ends.
    pub(crate) fn print(&self, printed: Printed) {
        let bytes = printed.into_bytes();
        if bytes.is_empty() {
            return;
        }
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(printer) => printer(&bytes),
            None => {
                let mut out = stdout().lock();
                // A program whose output nobody reads goes on, as on hardware.
                drop(out.write_all(&bytes).and_then(|()| out.flush()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_is_lost() {
        let printed = Printed::default();
        printed.add(b"first");
        printed.add(&[b'x'; MOST_BYTES - 4]);
        printed.add(b"last");
        assert!(printed.into_bytes() == [&[b'x'; MOST_BYTES - 4][..], b"last"].concat());
    }
}
