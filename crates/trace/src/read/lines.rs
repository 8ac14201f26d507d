//! The lines of a text of traces, one at a time.

use std::io::{BufRead, Read};

use super::error::{Position, ReadError};
use super::line::{Line, Located, Object};
use super::names::Names;
use crate::call::{OsStep, StepCall};
use crate::format::{FORMAT_VERSION, Header, Machine, Needs, Step};
use crate::result::StepResult;

/// The longest line that is read.
///
/// # Units
/// Bytes. The longest line of the recordings has about 1,600.
pub const MAX_LINE: usize = 1 << 20;

/// A line of a text of traces.
#[derive(Clone, PartialEq, Debug)]
pub enum TraceLine {
    /// Opens a trace.
    Header {
        /// What the line says.
        header: Header,
        /// Its number.
        line: u64,
    },
    /// A step of the trace that was opened last.
    Step(Step),
}

/// Reads traces from JSON Lines, one line at a time.
///
/// It holds one line and the names of one trace in memory, however long the text or the trace is. Blank lines are passed
/// over. The first error ends the iteration: what follows a broken line has no meaning that can be relied on.
///
/// # Errors
/// [`ReadError`], with line and column.
pub struct Lines<R> {
    text: R,
    line: u64,
    buffer: Vec<u8>,
    /// The names of the trace that is open. `None`: none was opened yet.
    names: Option<Names>,
    ended: bool,
}

impl<R: BufRead> Lines<R> {
    /// A reader of a text.
    pub const fn new(text: R) -> Self {
        Self { text, line: 0, buffer: Vec::new(), names: None, ended: false }
    }

    fn read(&mut self) -> Result<Option<TraceLine>, ReadError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let object = Line::parse(&self.buffer, self.line)?.object("line")?;
        match (object.get("trace"), &mut self.names) {
            (Some(version), names) => {
                let header = header(&object, version)?;
                *names = Some(Names::default());
                Ok(Some(TraceLine::Header { header, line: self.line }))
            }
            (None, Some(names)) => step(&object, names).map(TraceLine::Step).map(Some),
            (None, None) => Err(ReadError::NoHeader { at: object.at() }),
        }
    }

    /// Reads the next line that is not blank, without its end. `false`: there is none.
    fn read_line(&mut self) -> Result<bool, ReadError> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let at = Position { line: self.line, column: 1 };
            // One byte more than a line and its end may have, so that a line that is too long shows.
            let most = MAX_LINE as u64 + 2;
            let read = self.text.by_ref().take(most).read_until(b'\n', &mut self.buffer);
            if read.map_err(|source| ReadError::Io { at, source })? == 0 {
                return Ok(false);
            }
            if !self.buffer.trim_ascii().is_empty() {
                self.buffer.truncate(self.buffer.trim_ascii_end().len());
            } else if self.buffer.ends_with(b"\n") {
                continue;
            }
            return match self.buffer.len() {
                ..=MAX_LINE => Ok(!self.buffer.trim_ascii().is_empty()),
                _ => Err(ReadError::LineTooLong { at: Position { column: MAX_LINE + 1, ..at }, most: MAX_LINE }),
            };
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<TraceLine, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let line = self.read().transpose();
        self.ended = !matches!(line, Some(Ok(_)));
        line
    }
}

fn header(object: &Object<'_>, version: Located<'_>) -> Result<Header, ReadError> {
    if version.json() != FORMAT_VERSION.to_string() {
        return Err(ReadError::WrongVersion { at: version.at(), found: version.json().to_owned() });
    }
    object.only(&["trace", "name", "about", "machine", "needs"])?;
    let needs = object.need("needs")?.object("needs")?;
    needs.only(&["devices"])?;
    Ok(Header {
        name: object.text("name")?,
        about: object.text("about")?,
        machine: machine(&object.need("machine")?.object("machine")?)?,
        needs: Needs { devices: needs.number("devices")? },
    })
}

fn machine(object: &Object<'_>) -> Result<Machine, ReadError> {
    object.only(&["gpus", "model", "driver", "cuda", "link"])?;
    Ok(Machine {
        gpus: object.number("gpus")?,
        model: object.text("model")?,
        driver: object.text("driver")?,
        cuda: object.number("cuda")?,
        link: object.get("link").map(|link| link.read("link", "a text")).transpose()?,
    })
}

fn step(object: &Object<'_>, names: &mut Names) -> Result<Step, ReadError> {
    object.only(&["p", "call", "in", "as", "result", "out"])?;
    let process = object.number("p")?;
    let call = call(object)?;
    let given = object.need("in")?;
    let result = result(object, call)?;
    names.check(given, process)?;
    if let Some(out) = object.get("out") {
        names.check(out, process)?;
    }
    let owner = owner(&given.object("in")?, call, process)?;
    let name = match object.get("as") {
        Some(place) => Some(names.define(place, owner, result.is_success())?),
        None if call.os_step() == Some(OsStep::Send) => {
            return Err(ReadError::MissingKey { at: object.at(), key: "as" });
        }
        None => None,
    };
    let arguments = given.read("in", "an object")?;
    Ok(Step { process, call, arguments, name, result, out: object.map("out")?, line: object.at().line })
}

fn call(object: &Object<'_>) -> Result<StepCall, ReadError> {
    let name = object.text("call")?;
    StepCall::from_name(&name).ok_or(ReadError::UnknownCall { at: object.need("call")?.at(), call: name })
}

fn result(object: &Object<'_>, call: StepCall) -> Result<StepResult, ReadError> {
    let name = object.text("result")?;
    let at = object.need("result")?.at();
    StepResult::from_name(call, &name).ok_or(ReadError::UnknownResult { at, result: name, call: call.name() })
}

/// The process that a step's value lives in: for `send` the receiver.
fn owner(given: &Object<'_>, call: StepCall, process: u32) -> Result<u32, ReadError> {
    if call.os_step() == Some(OsStep::Send) { given.number("to") } else { Ok(process) }
}
