//! A module.

use crate::declaration::Declaration;
use crate::entry::Entry;
use crate::error::PtxError;
use crate::header::Header;
use crate::lexer;
use crate::parser;

/// PTX text as far as it is understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Entry>,
    pub(crate) declarations: Vec<Declaration>,
}

impl Module {
    /// Reads the text of a module. It ends at the first NUL, if there is one.
    ///
    /// # Errors
    /// The first problem in the text, with its line and column; [`PtxProblem`](crate::PtxProblem) lists them.
    pub fn parse(text: &str) -> Result<Self, PtxError> {
        parser::parse(&lexer::tokenize(text)?)
    }

    /// The version of the language, as in `.version 8.4`.
    #[must_use]
    pub fn version(&self) -> (u8, u8) {
        self.header.version
    }

    /// Whether the module is written in a later version of the language than `isa`, the last that a driver knows.
    #[must_use]
    pub fn requires_newer_than(&self, isa: (u8, u8)) -> bool {
        self.header.version > isa
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

    /// Functions, variables, aliases and prototypes, in the order of the text.
    #[must_use]
    pub fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }
}
