//! A module.

use std::collections::HashMap;

use crate::cursor::Cursor;
use crate::entry::Entry;
use crate::error::PtxError;
use crate::function::Function;
use crate::header::{self, Header};
use crate::lexer;
use crate::needs;
use crate::parser;
use crate::variable::Variable;

/// A module: PTX text, checked and with every name resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Entry>,
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) files: HashMap<u32, String>,
}

impl Module {
    /// Reads the text of a module. It ends at the first NUL, if there is one.
    ///
    /// # Errors
    /// The first problem in the text, with its line and column; [`PtxProblem`](crate::PtxProblem) lists them.
    pub fn parse(text: &str) -> Result<Self, PtxError> {
        let tokens = lexer::tokenize(text)?;
        let parsed = parser::parse(&tokens);
        // What stands first is told first, whoever finds it.
        let earlier = |unmet: &PtxError| parsed.as_ref().err().is_none_or(|error| unmet.at < error.at);
        match needs::unmet(&tokens).into_iter().find(earlier) {
            Some(unmet) => Err(unmet),
            None => parsed,
        }
    }

    /// Reads the version of the language and nothing behind the header. A driver refuses a later version than it knows
    /// before it looks at what that version may have brought.
    ///
    /// # Errors
    /// What is wrong with the header.
    pub fn read_version(text: &str) -> Result<(u8, u8), PtxError> {
        header::parse(&mut Cursor::new(&lexer::header_tokens(text)?)).map(|header| header.version)
    }

    /// Reads the header as a driver does that knows no later version than `newest`, for a device of the architecture
    /// `device`, such as 90.
    ///
    /// # Errors
    /// What is wrong with the header: a version that is not known, a target that there is not, or not in this version
    /// of the language, or that the device does not have.
    pub fn check_header(text: &str, newest: (u8, u8), device: u32) -> Result<(), PtxError> {
        let header = header::parse(&mut Cursor::new(&lexer::header_tokens(text)?))?;
        header.check(newest, device)
    }

    /// The version of the language, as in `.version 8.4`.
    #[must_use]
    pub fn version(&self) -> (u8, u8) {
        self.header.version
    }

    /// The architecture, as in `.target sm_90a`; the highest if there are several.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.header.target.name
    }

    /// The number of the architecture: 90 for `sm_90` and `sm_90a`. `None` if the target is no `sm_…`.
    #[must_use]
    pub fn sm(&self) -> Option<u32> {
        self.header.target.sm()
    }

    /// What `.target` lists behind the architecture: `debug` and the like.
    #[must_use]
    pub fn target_options(&self) -> &[String] {
        &self.header.target.options
    }

    /// The width of an address, always 64.
    ///
    /// # Units
    /// Bits.
    #[must_use]
    pub fn address_size(&self) -> u8 {
        self.header.address_size
    }

    /// The entries that have a body, in the order of the text.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The functions, declared or defined, in the order of their first declaration.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The variables with a place of their own, in the order of the text.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variable of the module that has this name; those inside functions are not looked at.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name && !variable.in_function)
    }

    /// The name of the file with this number, for a [`SourcePlace`](crate::SourcePlace).
    #[must_use]
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.get(&number).map(String::as_str)
    }
}
