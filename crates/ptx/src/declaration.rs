//! What a module declares besides its entries.

use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::PtxError;
use crate::lexer::TokenKind;

/// A function, variable or alias of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// What it is.
    pub kind: DeclarationKind,
    /// Its name. For a numbered family such as `.global .u32 slot<4>;` it is the common part, `slot`.
    pub name: String,
    /// Whether it is such a family.
    pub numbered: bool,
    /// The line of its name.
    pub line: u32,
    /// The tokens of the whole declaration without its linkage, in the form of
    /// [`Entry::normal_form`](crate::Entry::normal_form). Names declared together share it.
    pub normal_form: Arc<str>,
}

/// What a [`Declaration`] declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclarationKind {
    /// `.func`, with a body or without.
    Function,
    /// `.entry` without a body.
    EntryPrototype,
    /// `.alias`.
    Alias,
    /// A variable in `.global`.
    Global,
    /// A variable in `.const`.
    Const,
    /// A variable in `.shared`.
    Shared,
    /// A texture in the old space `.tex`.
    Texture,
}

impl DeclarationKind {
    /// The kind of variable that a declaration starting with `directive` declares.
    pub(crate) fn of_space(directive: &str) -> Option<Self> {
        match directive {
            ".global" => Some(Self::Global),
            // There are numbered banks of constant memory too: `.const[2]`.
            ".const" => Some(Self::Const),
            ".shared" | ".shared::cta" => Some(Self::Shared),
            ".tex" => Some(Self::Texture),
            _ => None,
        }
    }
}

/// A name that a declaration brings in.
pub(crate) struct DeclaredName {
    pub(crate) name: String,
    pub(crate) numbered: bool,
    pub(crate) line: u32,
}

/// Reads a variable declaration from behind its space to behind its `;`.
pub(crate) fn parse_variables(cursor: &mut Cursor<'_, '_>) -> Result<Vec<DeclaredName>, PtxError> {
    let mut names = Vec::new();
    loop {
        // Type, alignment, attributes and a bank in brackets stand before the first name.
        while !cursor.is(";") && !cursor.peek().is_some_and(|token| token.kind == TokenKind::Identifier) {
            cursor.skip_one("a variable name")?;
        }
        let name = cursor.identifier("a variable name")?;
        let numbered = cursor.is("<");
        names.push(DeclaredName { name: name.text.to_owned(), numbered, line: name.at.line });
        while !cursor.is(",") && !cursor.is(";") {
            cursor.skip_one("`;`")?;
        }
        if cursor.accept(";") {
            return Ok(names);
        }
        cursor.advance();
    }
}

/// Reads a function from behind `.func` to behind its body or its `;`.
pub(crate) fn parse_function(cursor: &mut Cursor<'_, '_>) -> Result<DeclaredName, PtxError> {
    // Attributes, and the returned value in parentheses.
    while !cursor.peek().is_some_and(|token| token.kind == TokenKind::Identifier) {
        cursor.skip_one("a function name")?;
    }
    let name = cursor.identifier("a function name")?;
    let declared = DeclaredName { name: name.text.to_owned(), numbered: false, line: name.at.line };
    loop {
        if cursor.accept(";") {
            return Ok(declared);
        }
        if cursor.is("{") {
            cursor.skip_one("`{`")?;
            return Ok(declared);
        }
        if cursor.is(".pragma") {
            cursor.skip_statement()?;
            continue;
        }
        cursor.skip_one("`{` or `;`")?;
    }
}
