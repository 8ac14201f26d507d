//! The reader: an iterator over the traces of a text.

use std::io::BufRead;

use super::error::ReadError;
use super::lines::{Lines, TraceLine};
use crate::format::{Header, Trace};

/// Reads traces from JSON Lines, one at a time.
///
/// It holds one trace in memory, however long the text is; [`Lines`] holds one line. Blank lines are passed over. The
/// first error ends the iteration: what follows a broken line has no meaning that can be relied on.
///
/// # Errors
/// [`ReadError`], with line and column.
pub struct Reader<R> {
    lines: Lines<R>,
    /// The header of the next trace, which ended the trace before it.
    next: Option<(Header, u64)>,
}

impl<R: BufRead> Reader<R> {
    /// A reader of a text.
    pub const fn new(text: R) -> Self {
        Self { lines: Lines::new(text), next: None }
    }

    fn read_trace(&mut self) -> Result<Option<Trace>, ReadError> {
        let open = |(header, line)| Trace { header, line, steps: Vec::new() };
        let mut trace = self.next.take().map(open);
        for line in self.lines.by_ref() {
            match (line?, &mut trace) {
                (TraceLine::Header { header, line }, None) => trace = Some(open((header, line))),
                (TraceLine::Header { header, line }, Some(_)) => {
                    self.next = Some((header, line));
                    break;
                }
                (TraceLine::Step(step), Some(trace)) => trace.steps.push(step),
                (TraceLine::Step(step), None) => unreachable!("no header before the step in line {}", step.line),
            }
        }
        Ok(trace)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Trace, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_trace().transpose()
    }
}
