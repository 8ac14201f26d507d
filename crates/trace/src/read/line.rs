//! A line of JSON whose values know in which column they stand.
//!
//! A parsed [`serde_json::Value`] has lost its place. Here each value stays a slice of its line, so that its place is
//! the distance of the two.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::{Position, ReadError};
use super::unique::Unique;

/// A line and its number.
#[derive(Clone, Copy)]
pub(super) struct Line<'l> {
    text: &'l str,
    number: u64,
}

/// A value of a line.
#[derive(Clone, Copy)]
pub(super) struct Located<'l> {
    line: Line<'l>,
    json: &'l str,
}

/// An object of a line.
pub(super) struct Object<'l> {
    whole: Located<'l>,
    fields: BTreeMap<String, Located<'l>>,
}

impl<'l> Line<'l> {
    /// Takes the bytes of a line, without its end, as one JSON value.
    pub(super) fn parse(bytes: &'l [u8], number: u64) -> Result<Located<'l>, ReadError> {
        let text = std::str::from_utf8(bytes).map_err(|source| ReadError::NotUtf8 {
            at: Position { line: number, column: source.valid_up_to() + 1 },
            source,
        })?;
        let line = Self { text, number };
        // Only the check: a raw value takes any depth, which would let a hostile line exhaust the stack below.
        serde_json::from_str::<Unique>(text).map_err(|source| line.syntax_error(source))?;
        let json: &RawValue = serde_json::from_str(text).map_err(|source| line.syntax_error(source))?;
        Ok(Located { line, json: json.get() })
    }

    fn syntax_error(self, source: serde_json::Error) -> ReadError {
        let at = Position { line: self.number, column: source.column().max(1) };
        if source.is_eof() { ReadError::Truncated { at } } else { ReadError::NotJson { at, source } }
    }
}

impl<'l> Located<'l> {
    /// Where the value starts.
    pub(super) fn at(self) -> Position {
        let offset = self.json.as_ptr().addr() - self.line.text.as_ptr().addr();
        Position { line: self.line.number, column: offset + 1 }
    }

    /// The value as it is written.
    pub(super) const fn json(self) -> &'l str {
        self.json
    }

    /// The value as a type.
    pub(super) fn read<T: DeserializeOwned>(self, what: &'static str, expected: &'static str) -> Result<T, ReadError> {
        serde_json::from_str(self.json).map_err(|_| ReadError::WrongType { at: self.at(), what, expected })
    }

    /// The value as an object.
    pub(super) fn object(self, what: &'static str) -> Result<Object<'l>, ReadError> {
        let fields: BTreeMap<String, &'l RawValue> = serde_json::from_str(self.json)
            .map_err(|_| ReadError::WrongType { at: self.at(), what, expected: "an object" })?;
        let fields = fields.into_iter().map(|(key, raw)| (key, self.inside(raw))).collect();
        Ok(Object { whole: self, fields })
    }

    /// Every text in the value, however deep, in the order of the line.
    pub(super) fn texts(self) -> Vec<(Self, String)> {
        let mut texts = Vec::new();
        self.collect_texts(&mut texts);
        texts
    }

    fn collect_texts(self, texts: &mut Vec<(Self, String)>) {
        if let Ok(text) = serde_json::from_str::<String>(self.json) {
            texts.push((self, text));
        } else if let Ok(items) = serde_json::from_str::<Vec<&'l RawValue>>(self.json) {
            items.into_iter().for_each(|item| self.inside(item).collect_texts(texts));
        } else if let Ok(fields) = serde_json::from_str::<BTreeMap<String, &'l RawValue>>(self.json) {
            let mut values: Vec<Self> = fields.into_values().map(|raw| self.inside(raw)).collect();
            values.sort_by_key(|value| value.at());
            values.into_iter().for_each(|value| value.collect_texts(texts));
        }
    }

    fn inside(self, raw: &'l RawValue) -> Self {
        Self { line: self.line, json: raw.get() }
    }
}

impl<'l> Object<'l> {
    /// Where the object starts.
    pub(super) fn at(&self) -> Position {
        self.whole.at()
    }

    /// A value that may be absent.
    pub(super) fn get(&self, key: &str) -> Option<Located<'l>> {
        self.fields.get(key).copied()
    }

    /// A value that must be there.
    pub(super) fn need(&self, key: &'static str) -> Result<Located<'l>, ReadError> {
        self.get(key).ok_or_else(|| ReadError::MissingKey { at: self.at(), key })
    }

    /// A number that must be there.
    pub(super) fn number(&self, key: &'static str) -> Result<u32, ReadError> {
        self.need(key)?.read(key, "a whole number from 0 to 4294967295")
    }

    /// A text that must be there.
    pub(super) fn text(&self, key: &'static str) -> Result<String, ReadError> {
        self.need(key)?.read(key, "a text")
    }

    /// An object that may be absent, as a map.
    pub(super) fn map(&self, key: &'static str) -> Result<Option<Map<String, Value>>, ReadError> {
        self.get(key).map(|value| value.read(key, "an object")).transpose()
    }

    /// Refuses keys that are not in the list.
    pub(super) fn only(&self, keys: &[&str]) -> Result<(), ReadError> {
        match self.fields.iter().filter(|(key, _)| !keys.contains(&key.as_str())).min_by_key(|(_, value)| value.at()) {
            Some((key, value)) => Err(ReadError::UnknownKey { at: value.at(), key: key.clone() }),
            None => Ok(()),
        }
    }
}
