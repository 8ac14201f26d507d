//! The normal form of a piece of a module.

use crate::cursor::Cursor;
use crate::debug;
use crate::error::PtxError;
use crate::lexer::Token;

/// The tokens joined by one space, without `.loc` and `.file`.
pub(crate) fn normal_form(tokens: &[Token<'_>]) -> Result<String, PtxError> {
    let mut cursor = Cursor::new(tokens);
    let mut form = String::new();
    let mut starts_statement = true;
    while let Some(token) = cursor.peek() {
        if starts_statement && debug::parse(&mut cursor)?.is_some() {
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
