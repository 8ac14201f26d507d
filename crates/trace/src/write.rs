//! From traces to JSON Lines, byte for byte as the recordings are written.
//!
//! Keys stand in the order of the format, a space follows each comma and colon, and what is not ASCII is escaped.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};
use serde_json::{Map, Value as Json, json};

use crate::format::{FORMAT_VERSION, Header, Machine, Step, Trace};

/// Writes traces as JSON Lines.
///
/// # Errors
/// Each method fails as the text behind it does.
pub struct Writer<W> {
    text: W,
}

impl<W: Write> Writer<W> {
    /// A writer of a text.
    pub const fn new(text: W) -> Self {
        Self { text }
    }

    /// Writes a header, which opens a trace.
    pub fn header(&mut self, header: &Header) -> io::Result<()> {
        let Header { name, about, machine, needs } = header;
        let mut line = Map::new();
        line.insert("trace".to_owned(), FORMAT_VERSION.into());
        line.insert("name".to_owned(), name.as_str().into());
        line.insert("about".to_owned(), about.as_str().into());
        line.insert("machine".to_owned(), Json::Object(machine_object(machine)));
        line.insert("needs".to_owned(), json!({ "devices": needs.devices }));
        self.line(&line)
    }

    /// Writes a step of the trace that was opened last.
    pub fn step(&mut self, step: &Step) -> io::Result<()> {
        let Step { process, call, arguments, name, result, out, line: _ } = step;
        let mut line = Map::new();
        line.insert("p".to_owned(), (*process).into());
        line.insert("call".to_owned(), call.name().into());
        line.insert("in".to_owned(), Json::Object(arguments.clone()));
        if let Some(name) = name {
            line.insert("as".to_owned(), name.as_str().into());
        }
        line.insert("result".to_owned(), result.to_string().into());
        if let Some(out) = out {
            line.insert("out".to_owned(), Json::Object(out.clone()));
        }
        self.line(&line)
    }

    /// Writes a whole trace.
    pub fn trace(&mut self, trace: &Trace) -> io::Result<()> {
        self.header(&trace.header)?;
        trace.steps.iter().try_for_each(|step| self.step(step))
    }

    /// Hands what was written on to where it goes.
    pub fn flush(&mut self) -> io::Result<()> {
        self.text.flush()
    }

    fn line(&mut self, line: &Map<String, Json>) -> io::Result<()> {
        line.serialize(&mut Serializer::with_formatter(&mut self.text, Spaced))?;
        self.text.write_all(b"\n")
    }
}

fn machine_object(machine: &Machine) -> Map<String, Json> {
    let Machine { gpus, model, driver, cuda, link } = machine;
    let mut object = Map::new();
    object.insert("gpus".to_owned(), (*gpus).into());
    object.insert("model".to_owned(), model.as_str().into());
    object.insert("driver".to_owned(), driver.as_str().into());
    object.insert("cuda".to_owned(), (*cuda).into());
    if let Some(link) = link {
        object.insert("link".to_owned(), link.as_str().into());
    }
    object
}

/// An object as the recordings write it.
pub(crate) fn object_text(object: &Map<String, Json>) -> String {
    let mut text = Vec::new();
    // Neither can fail: the bytes go to memory, and the keys of a map are texts.
    drop(object.serialize(&mut Serializer::with_formatter(&mut text, Spaced)));
    String::from_utf8_lossy(&text).into_owned()
}

/// JSON with a space after each comma and colon, and ASCII only.
struct Spaced;

fn separate<W: Write + ?Sized>(writer: &mut W, first: bool) -> io::Result<()> {
    if first { Ok(()) } else { writer.write_all(b", ") }
}

impl Formatter for Spaced {
    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        for part in fragment.split_inclusive(|c: char| !c.is_ascii()) {
            let plain = part.trim_end_matches(|c: char| !c.is_ascii());
            writer.write_all(plain.as_bytes())?;
            for unit in part[plain.len()..].encode_utf16() {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn write_char_escape<W: Write + ?Sized>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        CompactFormatter.write_char_escape(writer, escape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ascii_is_escaped_and_reads_back() {
        let text = "a\u{e9}\u{1f600}b\"\\\n\u{1}";
        let object: Map<String, Json> = [("k".to_owned(), text.into())].into_iter().collect();
        let written = object_text(&object);
        assert_eq!(written, r#"{"k": "a\u00e9\ud83d\ude00b\"\\\n\u0001"}"#);
        assert_eq!(serde_json::from_str::<Map<String, Json>>(&written).expect("it is JSON"), object);
    }
}
