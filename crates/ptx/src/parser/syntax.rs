//! Operands as they are written, before anything is known about names.

use super::constant::{self, Constant};
use crate::cursor::Cursor;
use crate::error::PtxError;
use crate::lexer::{Position, Token, TokenKind};

/// An operand as it is written.
#[derive(Clone, Debug)]
pub(super) struct Operand<'a> {
    pub(super) at: Position,
    pub(super) form: Form<'a>,
}

/// The forms of operands.
#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    /// `%r1`, `%tid.x`, `table+4`; `_` too.
    Name(Name<'a>),
    /// `table[2]`: the address of an element.
    Element(&'a str, i64),
    /// `4`, `-1.5`, `(1 + 2)`.
    Constant(Constant),
    /// `!%p1`.
    Not(Name<'a>),
    /// `{%r1, 2, _}`.
    Vector(Vec<Operand<'a>>),
    /// `[%rd1+16]`.
    Address(AddressForm<'a>),
    /// `%r1|%p1`.
    Pair(Box<[Operand<'a>; 2]>),
    /// `(a, b)`, in calls.
    Group(Vec<Operand<'a>>),
}

/// A name with what may hang on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    /// `.x` and its like, with the dot.
    pub(super) component: Option<&'a str>,
    /// What is added to it.
    pub(super) offset: i64,
}

/// What stands between `[` and `]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressForm<'a> {
    pub(super) base: Option<Name<'a>>,
    pub(super) offset: i64,
}

/// Reads operands up to the `;`, which it moves over. In a call, `(` opens a group; elsewhere an expression.
pub(super) fn operands<'a>(cursor: &mut Cursor<'_, 'a>, is_call: bool) -> Result<Vec<Operand<'a>>, PtxError> {
    let mut operands = Vec::new();
    if cursor.accept(";") {
        return Ok(operands);
    }
    loop {
        operands.push(operand(cursor, is_call)?);
        if cursor.accept(";") {
            return Ok(operands);
        }
        cursor.expect(",", "`,` or `;`")?;
    }
}

fn operand<'a>(cursor: &mut Cursor<'_, 'a>, is_call: bool) -> Result<Operand<'a>, PtxError> {
    let at = cursor.at();
    if is_call && cursor.accept("(") {
        return group(cursor, at);
    }
    let first = simple(cursor)?;
    if !cursor.accept("|") {
        return Ok(first);
    }
    let second = simple(cursor)?;
    Ok(Operand { at, form: Form::Pair(Box::new([first, second])) })
}

/// What stands behind `(` in a call.
fn group<'a>(cursor: &mut Cursor<'_, 'a>, at: Position) -> Result<Operand<'a>, PtxError> {
    let mut members = Vec::new();
    if !cursor.accept(")") {
        members = list(cursor)?;
        cursor.expect(")", "`,` or `)`")?;
    }
    Ok(Operand { at, form: Form::Group(members) })
}

fn list<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<Vec<Operand<'a>>, PtxError> {
    let mut members = vec![simple(cursor)?];
    while cursor.accept(",") {
        members.push(simple(cursor)?);
    }
    Ok(members)
}

/// An operand that holds no brackets of operands.
fn simple<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<Operand<'a>, PtxError> {
    let at = cursor.at();
    let next = cursor.peek().ok_or_else(|| cursor.unexpected("an operand"))?;
    let form = if next.is("{") {
        cursor.advance();
        let members = vector_members(cursor)?;
        Form::Vector(members)
    } else if next.is("[") {
        cursor.advance();
        let address = address(cursor)?;
        cursor.expect("]", "`]`")?;
        Form::Address(address)
    } else if is_negated_name(cursor) {
        cursor.advance();
        Form::Not(name(cursor)?)
    } else if constant::starts(next) {
        Form::Constant(constant::parse(cursor)?)
    } else if next.kind == TokenKind::Identifier {
        let name = name(cursor)?;
        if name.component.is_none() && cursor.accept("[") {
            let index = offset(cursor)?;
            cursor.expect("]", "`]`")?;
            Form::Element(name.text, index)
        } else {
            Form::Name(name)
        }
    } else {
        return Err(cursor.unexpected("an operand"));
    };
    Ok(Operand { at, form })
}

fn vector_members<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<Vec<Operand<'a>>, PtxError> {
    let mut members = Vec::new();
    loop {
        if cursor.is("{") || cursor.is("[") {
            return Err(cursor.unexpected("an element of the vector"));
        }
        members.push(simple(cursor)?);
        if cursor.accept("}") {
            return Ok(members);
        }
        cursor.expect(",", "`,` or `}`")?;
    }
}

/// Whether `!` and a name come next. `!5` is a constant.
fn is_negated_name(cursor: &Cursor<'_, '_>) -> bool {
    let mut ahead = cursor.clone();
    let is_name = |token: &Token<'_>| token.kind == TokenKind::Identifier && !token.is("WARP_SZ");
    ahead.accept("!") && ahead.peek().is_some_and(is_name)
}

/// A name, its component and its offset: `g+4`. What is subtracted is written `g+-4`.
fn name<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<Name<'a>, PtxError> {
    let text = cursor.identifier("a name")?.text;
    let component = cursor.peek().filter(|token| token.kind == TokenKind::Directive).map(|token| token.text);
    if component.is_some() {
        cursor.advance();
    }
    let offset = if cursor.is("+") { offset(cursor)? } else { 0 };
    Ok(Name { text, component, offset })
}

fn offset(cursor: &mut Cursor<'_, '_>) -> Result<i64, PtxError> {
    constant::parse_integer(cursor, "an offset").map(u64::cast_signed)
}

fn address<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<AddressForm<'a>, PtxError> {
    match cursor.peek() {
        Some(token) if token.kind == TokenKind::Identifier && !token.is("WARP_SZ") => {
            let base = name(cursor)?;
            Ok(AddressForm { base: Some(base), offset: base.offset })
        }
        _ => Ok(AddressForm { base: None, offset: offset(cursor)? }),
    }
}
