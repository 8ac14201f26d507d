//! Declarations of variables: what module and bodies have in common.

use std::borrow::Cow;

use super::constant;
use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::lexer::{Position, Token, TokenKind};
use crate::param;
use crate::types::ScalarType;

/// The most bytes that a variable can have: no address is longer.
const MOST_BYTES: u64 = 1 << 47;

/// What stands before the names of a declaration.
pub(super) struct Kind {
    pub(super) align: Option<u32>,
    pub(super) vector: u32,
    pub(super) ty: ScalarType,
    pub(super) managed: bool,
    /// `.texref` and its kin: a handle.
    pub(super) opaque: bool,
}

impl Kind {
    /// What a variable's address is a multiple of.
    pub(super) fn alignment(&self) -> u32 {
        (self.ty.size() * self.vector).max(self.align.unwrap_or(1))
    }
}

/// A name with what stands behind it.
pub(super) struct Declarator<'a> {
    pub(super) name: &'a str,
    pub(super) at: Position,
    /// `<10>`.
    pub(super) family: Option<u32>,
    /// `[2][3]`; the first may be empty.
    pub(super) dimensions: Vec<Option<u64>>,
}

impl<'a> Declarator<'a> {
    /// The name, or those of all members of a family.
    pub(super) fn names(&self) -> Result<Vec<Cow<'a, str>>, PtxError> {
        /// The most variables that one declaration brings in.
        const MOST: u32 = 256;
        match self.family {
            None => Ok(vec![self.name.into()]),
            Some(count) if count <= MOST => {
                Ok((0..count).map(|number| format!("{}{number}", self.name).into()).collect())
            }
            Some(count) => {
                let problem = PtxProblem::NumberTooLarge { text: count.to_string(), most: MOST.into() };
                Err(PtxError { at: self.at, problem })
            }
        }
    }

    /// How many bytes it takes with so many in its first dimension if that is empty.
    pub(super) fn size(&self, kind: &Kind, first: u64) -> Result<u64, PtxError> {
        let element = u64::from(kind.ty.size() * kind.vector);
        let mut dimensions = self.dimensions.iter().map(|length| length.unwrap_or(first));
        let size = dimensions.try_fold(element, u64::checked_mul);
        let too_large = PtxError { at: self.at, problem: PtxProblem::VariableTooLarge { most: MOST_BYTES } };
        size.filter(|size| *size <= MOST_BYTES).ok_or(too_large)
    }
}

/// Reads alignment, attributes, vector and type, in any order.
pub(super) fn kind(cursor: &mut Cursor<'_, '_>, is_register: bool) -> Result<Kind, PtxError> {
    let mut kind = Kind { align: None, vector: 1, ty: ScalarType::B64, managed: false, opaque: false };
    let mut has_type = false;
    while let Some(token) = cursor.peek().filter(|token| token.kind == TokenKind::Directive) {
        match token.text {
            ".align" => kind.align = param::alignment(cursor)?.max(kind.align),
            ".attribute" => kind.managed |= attribute(cursor)?,
            ".ptr" => drop(cursor.accept(".ptr")),
            ".v2" | ".v4" | ".v8" => {
                kind.vector = token.text[2..].parse().unwrap_or(1);
                cursor.advance();
            }
            ".texref" | ".samplerref" | ".surfref" if !is_register && !has_type => {
                (kind.opaque, has_type) = (true, true);
                cursor.advance();
            }
            _ => {
                let ty = ScalarType::from_directive(token.text);
                let declared = |ty: &ScalarType| ty.is_fundamental() || is_register && *ty == ScalarType::Pred;
                let ty = ty.filter(declared).filter(|_| !has_type);
                kind.ty = ty.ok_or_else(|| cursor.unexpected("a type such as `.u32`"))?;
                has_type = true;
                cursor.advance();
            }
        }
    }
    if has_type { Ok(kind) } else { Err(cursor.unexpected("a type such as `.u32`")) }
}

/// `.attribute(.managed)`; whether it is that one.
fn attribute(cursor: &mut Cursor<'_, '_>) -> Result<bool, PtxError> {
    cursor.advance();
    if !cursor.is("(") {
        return Err(cursor.unexpected("`(`"));
    }
    let start = cursor.index();
    cursor.skip_one("`)`")?;
    Ok(cursor.since(start).iter().any(|token: &Token<'_>| token.is(".managed")))
}

/// Reads a name, its count or its dimensions.
pub(super) fn declarator<'a>(cursor: &mut Cursor<'_, 'a>, expected: &'static str) -> Result<Declarator<'a>, PtxError> {
    let name = cursor.identifier(expected)?;
    let mut declarator = Declarator { name: name.text, at: name.at, family: None, dimensions: Vec::new() };
    if cursor.accept("<") {
        declarator.family = Some(cursor.integer("how many there are")?);
        cursor.expect(">", "`>`")?;
    }
    let open = cursor.clone();
    while cursor.accept("[") {
        let length = if cursor.is("]") && declarator.dimensions.is_empty() {
            None
        } else {
            let place = cursor.clone();
            let length = constant::parse_integer(cursor, "the length of the array")?;
            if length == 0 {
                return Err(place.unexpected("an array of at least one element"));
            }
            Some(length)
        };
        declarator.dimensions.push(length);
        if cursor.peek().is_none() {
            return Err(open.error(PtxProblem::UnterminatedBracket { open: "[", close: "]" }));
        }
        cursor.expect("]", "`]`")?;
    }
    Ok(declarator)
}
