//! Directives that say where code comes from.

use crate::body::{SourceLocation, SourcePlace};
use crate::cursor::Cursor;
use crate::error::PtxError;
use crate::lexer::TokenKind;

/// A directive about the source.
pub(crate) enum Debug<'a> {
    /// `.file`: the number and name of a file.
    File(u32, &'a str),
    /// `.loc`: where the instructions behind it come from.
    Location(SourceLocation),
}

/// Reads a `.loc` or `.file` directive, if there is one. They end without a `;`.
pub(crate) fn parse<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<Option<Debug<'a>>, PtxError> {
    if cursor.accept(".file") {
        let number = cursor.integer("a file number")?;
        let name = cursor.take(&[TokenKind::String], "a file name in quotes")?;
        if cursor.accept(",") {
            cursor.take(&[TokenKind::Integer], "a time stamp")?;
            cursor.expect(",", "`,`")?;
            cursor.take(&[TokenKind::Integer], "a file size")?;
        }
        return Ok(Some(Debug::File(number, name.text.trim_matches('"'))));
    }
    if !cursor.accept(".loc") {
        return Ok(None);
    }
    let place = place(cursor)?;
    let mut inlined_at = None;
    if cursor.accept(",") {
        cursor.expect("function_name", "`function_name`")?;
        cursor.identifier("a label")?;
        if cursor.accept("+") {
            cursor.integer("an offset")?;
        }
        cursor.expect(",", "`,`")?;
        cursor.expect("inlined_at", "`inlined_at`")?;
        inlined_at = Some(self::place(cursor)?);
    }
    Ok(Some(Debug::Location(SourceLocation { place, inlined_at })))
}

fn place(cursor: &mut Cursor<'_, '_>) -> Result<SourcePlace, PtxError> {
    let file = cursor.integer("a file number")?;
    let line = cursor.integer("a line number")?;
    Ok(SourcePlace { file, line, column: cursor.integer("a column number")? })
}
