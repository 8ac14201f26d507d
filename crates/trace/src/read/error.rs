//! Why a text is no list of traces.

use std::fmt;
use std::io;
use std::str::Utf8Error;

use crate::format::FORMAT_VERSION;

/// A place in the text.
///
/// # Units
/// Both count from 1; the column counts bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The byte of the line.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why reading stopped. A value that is wrong is named by where it starts, a missing key by where its object starts.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text could not be read.
    #[error("{at}: the text cannot be read")]
    Io {
        /// The start of the line that could not be read.
        at: Position,
        /// What the system said.
        source: io::Error,
    },
    /// The line is longer than any line of a trace.
    #[error("{at}: the line is longer than {most} bytes; is this a file of traces, one step a line?")]
    LineTooLong {
        /// The first byte too many.
        at: Position,
        /// How many bytes a line may have.
        most: usize,
    },
    /// The line is no UTF-8.
    #[error("{at}: not UTF-8")]
    NotUtf8 {
        /// The first wrong byte.
        at: Position,
        /// What is wrong with it.
        source: Utf8Error,
    },
    /// The line is no JSON.
    #[error("{at}: not JSON")]
    NotJson {
        /// Where the parser stopped.
        at: Position,
        /// What the parser said; its own line number is always 1.
        source: serde_json::Error,
    },
    /// The line ends inside its JSON value.
    #[error("{at}: the line ends inside its JSON value; was the file written to its end?")]
    Truncated {
        /// The last byte of the line.
        at: Position,
    },
    /// A step comes before any header.
    #[error("{at}: a step before any header; a trace starts with a line that has the key `trace`")]
    NoHeader {
        /// The start of the step.
        at: Position,
    },
    /// The trace has another version than this reader.
    #[error("{at}: trace format {found}, but this reader knows version {FORMAT_VERSION} only")]
    WrongVersion {
        /// The value of the key `trace`.
        at: Position,
        /// That value as it is written.
        found: String,
    },
    /// An object lacks a key.
    #[error("{at}: the key `{key}` is missing")]
    MissingKey {
        /// The start of the object.
        at: Position,
        /// The key.
        key: &'static str,
    },
    /// An object has a key that version 1 does not have.
    #[error("{at}: version {FORMAT_VERSION} has no key `{key}` here")]
    UnknownKey {
        /// The value of the key.
        at: Position,
        /// The key.
        key: String,
    },
    /// A value has another type than the format asks for.
    #[error("{at}: {what} must be {expected}")]
    WrongType {
        /// The value.
        at: Position,
        /// Which value: its key, or `line`.
        what: &'static str,
        /// What belongs there.
        expected: &'static str,
    },
    /// The format has no such call.
    #[error("{at}: version {FORMAT_VERSION} has no call `{call}`")]
    UnknownCall {
        /// The name.
        at: Position,
        /// The name as it is written.
        call: String,
    },
    /// A call of this kind cannot end so.
    #[error(
        "{at}: `{result}` is no result of {call}: a driver call ends in a CUresult by name, SIGSEGV, another signal or \
         TIMEOUT, another step in OK or an errno name"
    )]
    UnknownResult {
        /// The result.
        at: Position,
        /// The result as it is written.
        result: String,
        /// The call.
        call: &'static str,
    },
    /// A value cannot be called so.
    #[error("{at}: `{name}` is no name: one has letters, digits and _, and starts with no digit")]
    BadName {
        /// The name.
        at: Position,
        /// The name as it is written.
        name: String,
    },
    /// A text that starts with `$` is no reference.
    #[error("{at}: `{text}` is no reference: one looks like $name, $name+4096 or $name-0x200000")]
    BadReference {
        /// The text.
        at: Position,
        /// The text as it is written.
        text: String,
    },
    /// A reference to a name that no earlier step gives.
    #[error("{at}: no earlier step of this trace names a value `{name}`")]
    UnknownName {
        /// The reference.
        at: Position,
        /// The name.
        name: String,
    },
    /// A reference to a name whose call failed, so that there is no value.
    #[error("{at}: `{name}` has no value, because the call that names it (line {defined}) failed")]
    NoValue {
        /// The reference.
        at: Position,
        /// The name.
        name: String,
        /// The line of that call.
        defined: u64,
    },
    /// A reference to a value of another process.
    #[error("{at}: `{name}` lives in process {lives_in}, process {used_by} cannot use it; `send` it first")]
    ForeignName {
        /// The reference.
        at: Position,
        /// The name.
        name: String,
        /// The process that has the value.
        lives_in: u32,
        /// The process that makes the call.
        used_by: u32,
    },
    /// A name is given twice in a trace.
    #[error("{at}: `{name}` is already the name of a value (line {defined})")]
    DuplicateName {
        /// The second one.
        at: Position,
        /// The name.
        name: String,
        /// The line of the first one.
        defined: u64,
    },
}

impl ReadError {
    /// Where it is.
    #[must_use]
    pub const fn at(&self) -> Position {
        match self {
            Self::Io { at, .. }
            | Self::LineTooLong { at, .. }
            | Self::NotUtf8 { at, .. }
            | Self::NotJson { at, .. }
            | Self::Truncated { at }
            | Self::NoHeader { at }
            | Self::WrongVersion { at, .. }
            | Self::MissingKey { at, .. }
            | Self::UnknownKey { at, .. }
            | Self::WrongType { at, .. }
            | Self::UnknownCall { at, .. }
            | Self::UnknownResult { at, .. }
            | Self::BadName { at, .. }
            | Self::BadReference { at, .. }
            | Self::UnknownName { at, .. }
            | Self::NoValue { at, .. }
            | Self::ForeignName { at, .. }
            | Self::DuplicateName { at, .. } => *at,
        }
    }
}
