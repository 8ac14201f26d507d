//! The reader: an iterator over the traces of a text.

use std::io::BufRead;

use super::error::{Position, ReadError};
use super::line::{Line, Located, Object};
use super::names::Names;
use crate::call::{OsStep, StepCall};
use crate::format::{FORMAT_VERSION, Header, Machine, Needs, Step, Trace};
use crate::result::StepResult;

/// Reads traces from JSON Lines, one at a time.
///
/// It holds one trace in memory, however long the text is. Blank lines are passed over. The first error ends the
/// iteration: what follows a broken line has no meaning that can be relied on.
///
/// # Errors
/// [`ReadError`], with line and column.
pub struct Reader<R> {
    text: R,
    line: u64,
    buffer: Vec<u8>,
    /// The header of the next trace, which ended the trace before it.
    next: Option<(Header, u64)>,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader of a text.
    pub const fn new(text: R) -> Self {
        Self { text, line: 0, buffer: Vec::new(), next: None, ended: false }
    }

    fn read_trace(&mut self) -> Result<Option<Trace>, ReadError> {
        let mut names = Names::default();
        let mut trace = self.next.take().map(|(header, line)| Trace { header, line, steps: Vec::new() });
        while self.read_line()? {
            let object = Line::parse(&self.buffer, self.line)?.object("line")?;
            match (object.get("trace"), &mut trace) {
                (None, Some(trace)) => trace.steps.push(step(&object, &mut names)?),
                (None, None) => return Err(ReadError::NoHeader { at: object.at() }),
                (Some(version), Some(_)) => {
                    self.next = Some((header(&object, version)?, self.line));
                    return Ok(trace);
                }
                (Some(version), None) => {
                    trace = Some(Trace { header: header(&object, version)?, line: self.line, steps: Vec::new() });
                }
            }
        }
        Ok(trace)
    }

    /// Reads the next line that is not blank, without its end. `false`: there is none.
    fn read_line(&mut self) -> Result<bool, ReadError> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let at = Position { line: self.line, column: 1 };
            let length =
                self.text.read_until(b'\n', &mut self.buffer).map_err(|source| ReadError::Io { at, source })?;
            if length == 0 {
                return Ok(false);
            }
            if !self.buffer.trim_ascii().is_empty() {
                self.buffer.truncate(self.buffer.trim_ascii_end().len());
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Trace, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let trace = self.read_trace().transpose();
        self.ended = !matches!(trace, Some(Ok(_)));
        trace
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
