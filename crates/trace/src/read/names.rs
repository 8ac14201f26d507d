//! The names of a trace: each is given once, and only its own process may use it.

use std::collections::HashMap;

use super::error::{Position, ReadError};
use super::line::Located;
use crate::reference::{Reference, is_name};

struct Defined {
    line: u64,
    process: u32,
    has_value: bool,
}

/// The names that the steps of a trace gave so far.
#[derive(Default)]
pub(super) struct Names {
    names: HashMap<String, Defined>,
}

impl Names {
    /// Checks every reference in a value that a process uses.
    pub(super) fn check(&self, value: Located<'_>, used_by: u32) -> Result<(), ReadError> {
        for (place, text) in value.texts() {
            if Reference::is_meant(&text) {
                self.check_reference(place.at(), &text, used_by)?;
            }
        }
        Ok(())
    }

    fn check_reference(&self, at: Position, text: &str, used_by: u32) -> Result<(), ReadError> {
        let reference = Reference::parse(text).ok_or_else(|| ReadError::BadReference { at, text: text.to_owned() })?;
        let name = reference.name.to_owned();
        match self.names.get(&name) {
            None => Err(ReadError::UnknownName { at, name }),
            Some(defined) if defined.process != used_by => {
                Err(ReadError::ForeignName { at, name, lives_in: defined.process, used_by })
            }
            Some(defined) if !defined.has_value => Err(ReadError::NoValue { at, name, defined: defined.line }),
            Some(_) => Ok(()),
        }
    }

    /// Gives a name to the value of a step. A failed step takes the name too, without a value.
    pub(super) fn define(&mut self, place: Located<'_>, process: u32, has_value: bool) -> Result<String, ReadError> {
        let name: String = place.read("as", "a text")?;
        let at = place.at();
        if !is_name(&name) {
            return Err(ReadError::BadName { at, name });
        }
        if let Some(first) = self.names.get(&name) {
            return Err(ReadError::DuplicateName { at, name, defined: first.line });
        }
        self.names.insert(name.clone(), Defined { line: at.line, process, has_value });
        Ok(name)
    }
}
