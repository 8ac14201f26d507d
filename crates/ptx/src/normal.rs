//! The normal form of a piece of a module, and what a body refers to.

use std::collections::HashSet;

use crate::cursor::Cursor;
use crate::declaration::Declaration;
use crate::error::PtxError;
use crate::lexer::{Token, TokenKind};

/// The tokens joined by one space, without `.loc` and `.file`.
pub(crate) fn normal_form(tokens: &[Token<'_>]) -> Result<String, PtxError> {
    let mut cursor = Cursor::new(tokens);
    let mut form = String::new();
    let mut starts_statement = true;
    while let Some(token) = cursor.peek() {
        if starts_statement && skip_debug_directive(&mut cursor)? {
            continue;
        }
        cursor.advance();
        starts_statement = [";", "{", "}", ":"].iter().any(|end| token.is(end));
        if !form.is_empty() {
            form.push(' ');
        }
        form.push_str(token.text);
    }
    Ok(form)
}

/// Moves over a `.loc` or `.file` directive, and says whether there was one. They end without a `;`.
pub(crate) fn skip_debug_directive(cursor: &mut Cursor<'_, '_>) -> Result<bool, PtxError> {
    if cursor.accept(".file") {
        cursor.integer("a file number")?;
        cursor.take(&[TokenKind::String], "a file name in quotes")?;
        if cursor.accept(",") {
            cursor.take(&[TokenKind::Integer], "a time stamp")?;
            cursor.expect(",", "`,`")?;
            cursor.take(&[TokenKind::Integer], "a file size")?;
        }
        return Ok(true);
    }
    if !cursor.accept(".loc") {
        return Ok(false);
    }
    skip_place(cursor)?;
    if cursor.accept(",") {
        cursor.expect("function_name", "`function_name`")?;
        cursor.identifier("a label")?;
        if cursor.accept("+") {
            cursor.integer("an offset")?;
        }
        cursor.expect(",", "`,`")?;
        cursor.expect("inlined_at", "`inlined_at`")?;
        skip_place(cursor)?;
    }
    Ok(true)
}

fn skip_place(cursor: &mut Cursor<'_, '_>) -> Result<(), PtxError> {
    cursor.integer("a file number")?;
    cursor.integer("a line number")?;
    cursor.integer("a column number")?;
    Ok(())
}

/// The names of a module that a body can refer to.
pub(crate) struct Symbols<'m> {
    names: HashSet<&'m str>,
    families: HashSet<&'m str>,
}

impl<'m> Symbols<'m> {
    pub(crate) fn new(entries: impl Iterator<Item = &'m str>, declarations: &'m [Declaration]) -> Self {
        let (families, single): (Vec<_>, Vec<_>) = declarations.iter().partition(|declaration| declaration.numbered);
        let name = |declaration: &'m Declaration| declaration.name.as_str();
        let names = entries.chain(single.into_iter().map(name)).collect();
        Self { names, families: families.into_iter().map(name).collect() }
    }

    /// Whether the body calls nothing and names none of these.
    pub(crate) fn are_absent_from(&self, body: &[Token<'_>]) -> bool {
        let identifiers = body.iter().filter(|token| token.kind == TokenKind::Identifier);
        !identifiers.map(|token| token.text).any(|text| text == "call" || self.contain(text))
    }

    fn contain(&self, text: &str) -> bool {
        // A name of a family ends in a 32-bit number. Its common part may end in digits itself, so each split counts.
        const MOST_DIGITS: usize = 10;
        let stem = text.trim_end_matches(|character: char| character.is_ascii_digit()).len();
        let first = stem.max(text.len().saturating_sub(MOST_DIGITS));
        let in_family = (first..text.len()).any(|end| self.families.contains(&text[..end]));
        in_family || self.names.contains(text)
    }
}
