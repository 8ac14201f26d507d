//! A call as it arrives: a [`CallRecord`] whose arguments cannot be nested without end.
//!
//! Whoever reads a value reads the values in it, so bytes that nest values as deep as they are long would use up the stack.
//! Here the type says how deep a value may be.

use peermap_report::calls::{Argument, CallError, CallRecord};
use serde::Deserialize;

/// A call.
#[derive(Deserialize)]
pub(super) struct Arrived {
    call: String,
    thread: u32,
    start_ns: u64,
    duration_ns: u64,
    arguments: Vec<(String, Value)>,
    error: Option<CallError>,
}

/// The values of the driver's calls are structures of structures at most; this is twice as deep.
type Value = Nested<Nested<Nested<Nested<Nested<Nested<Nothing>>>>>>;

/// An [`Argument`] with others in it.
#[derive(Deserialize)]
enum Nested<Inner> {
    Number(i128),
    Hex(u64),
    Text(String),
    List(Vec<Inner>),
    Fields(Vec<(String, Inner)>),
    None,
}

/// What there is no value of.
#[derive(Deserialize)]
enum Nothing {}

impl From<Nothing> for Argument {
    fn from(nothing: Nothing) -> Self {
        match nothing {}
    }
}

impl<Inner: Into<Self>> From<Nested<Inner>> for Argument {
    fn from(nested: Nested<Inner>) -> Self {
        match nested {
            Nested::Number(number) => Self::Number(number),
            Nested::Hex(number) => Self::Hex(number),
            Nested::Text(text) => Self::Text(text),
            Nested::List(values) => Self::List(values.into_iter().map(Into::into).collect()),
            Nested::Fields(values) => Self::Fields(named(values)),
            Nested::None => Self::None,
        }
    }
}

impl From<Arrived> for CallRecord {
    fn from(arrived: Arrived) -> Self {
        let Arrived { call, thread, start_ns, duration_ns, arguments, error } = arrived;
        Self { call, thread, start_ns, duration_ns, arguments: named(arguments), error }
    }
}

fn named<Inner: Into<Argument>>(values: Vec<(String, Inner)>) -> Vec<(String, Argument)> {
    values.into_iter().map(|(name, value)| (name, value.into())).collect()
}
