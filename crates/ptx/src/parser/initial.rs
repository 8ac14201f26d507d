//! Initial values of variables.

use super::constant;
use super::declare::{Declarator, Kind};
use super::names::ModuleNames;
use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::instruction::StateSpace;
use crate::lexer::TokenKind;
use crate::operand::{Symbol, VariableId};
use crate::types::ScalarType;
use crate::variable::{Initial, InitialAddress, InitialRun};

/// Reads values while it knows where in the variable they go.
pub(super) struct Values<'n, 'a> {
    pub(super) module: &'n ModuleNames<'a>,
    pub(super) kind: &'n Kind,
    pub(super) initial: Initial,
}

impl<'a> Values<'_, 'a> {
    /// Reads what stands behind `=`, and says how many elements of the first dimension it names.
    pub(super) fn parse(&mut self, cursor: &mut Cursor<'_, 'a>, declarator: &Declarator<'a>) -> Result<u64, PtxError> {
        let ty = self.kind.ty;
        if matches!(ty, ScalarType::F16 | ScalarType::F16x2 | ScalarType::B128) {
            return Err(wrong(cursor, "is of a type that can have none"));
        }
        let vector = Some(u64::from(self.kind.vector)).filter(|vector| *vector > 1);
        let dimensions: Vec<u64> =
            declarator.dimensions.iter().map(|length| length.unwrap_or(u64::MAX)).chain(vector).collect();
        match dimensions.is_empty() {
            true => self.scalar(cursor, 0).map(|()| 1),
            false => self.list(cursor, &dimensions, 0),
        }
    }

    /// `{…}`: elements, or lists of them. Says how many there are.
    fn list(&mut self, cursor: &mut Cursor<'_, 'a>, dimensions: &[u64], start: u64) -> Result<u64, PtxError> {
        let Some((length, inner)) = dimensions.split_first() else {
            self.scalar(cursor, start)?;
            return Ok(1);
        };
        cursor.expect("{", "`{`")?;
        if cursor.accept("}") {
            return Ok(0);
        }
        let element = inner.iter().fold(u64::from(self.kind.ty.size()), |size, length| size.saturating_mul(*length));
        let mut count = 0;
        loop {
            if count >= *length {
                return Err(wrong(cursor, "has more elements than its variable"));
            }
            self.list(cursor, inner, start.saturating_add(element.saturating_mul(count)))?;
            count += 1;
            if cursor.accept("}") {
                return Ok(count);
            }
            cursor.expect(",", "`,` or `}`")?;
        }
    }

    fn scalar(&mut self, cursor: &mut Cursor<'_, 'a>, offset: u64) -> Result<(), PtxError> {
        if self.is_address(cursor) {
            return self.address(cursor, offset);
        }
        let place = cursor.clone();
        let value = constant::parse(cursor)?;
        let value = value.immediate(self.kind.ty);
        let value = value.ok_or_else(|| wrong(&place, "is of another sort than its variable"))?;
        let bytes = &value.bits.to_le_bytes()[..self.kind.ty.size() as usize];
        match self.initial.runs.last_mut() {
            Some(run) if run.offset + run.bytes.len() as u64 == offset => run.bytes.extend(bytes),
            _ => self.initial.runs.push(InitialRun { offset, bytes: bytes.to_vec() }),
        }
        Ok(())
    }

    /// Whether a name comes next, perhaps behind a mask.
    fn is_address(&self, cursor: &Cursor<'_, 'a>) -> bool {
        let mut ahead = cursor.clone();
        if ahead.peek().is_some_and(|token| token.kind == TokenKind::Integer) {
            ahead.advance();
            if !ahead.accept("(") {
                return false;
            }
        }
        ahead.peek().is_some_and(|token| token.kind == TokenKind::Identifier && !token.is("WARP_SZ"))
    }

    /// `name+4`, `generic(name)+4` or `0xFF00(name)`.
    fn address(&mut self, cursor: &mut Cursor<'_, 'a>, offset: u64) -> Result<(), PtxError> {
        let place = cursor.clone();
        let size = self.kind.ty.size();
        let mut shift = 0;
        let masked = cursor.peek().is_some_and(|token| token.kind == TokenKind::Integer);
        if masked {
            let mask = constant::parse_integer(cursor, "a mask")?;
            shift = mask.trailing_zeros() & !7;
            if mask.checked_shr(shift) != Some(0xFF) || size != 1 {
                return Err(wrong(&place, "needs a mask of one byte such as `0xFF00`, in a variable of bytes"));
            }
        }
        if masked {
            cursor.expect("(", "`(`")?;
        }
        let generic = cursor.accept("generic");
        if generic {
            cursor.expect("(", "`(`")?;
        }
        let name = cursor.identifier("a name")?;
        let unknown = || PtxError { at: name.at, problem: PtxProblem::UnknownSymbol { name: name.text.to_owned() } };
        let (symbol, _) = *self.module.names.get(name.text).ok_or_else(unknown)?;
        let variable = |id: VariableId| &self.module.variables[id.index()];
        if matches!(symbol, Symbol::Variable(id) if variable(id).space == StateSpace::Shared) {
            return Err(wrong(&place, "is an address that every block has anew"));
        }
        let mut addend = offset_behind(cursor)?;
        for _ in 0..u32::from(masked) + u32::from(generic) {
            cursor.expect(")", "`)`")?;
            addend = addend.wrapping_add(offset_behind(cursor)?);
        }
        if !masked && size < 4 || self.kind.ty.is_float() {
            return Err(wrong(&place, "is an address, which needs 32 bits or more"));
        }
        self.initial.addresses.push(InitialAddress { offset, size, symbol, addend, generic, shift });
        Ok(())
    }
}

fn wrong(cursor: &Cursor<'_, '_>, reason: &'static str) -> PtxError {
    cursor.error(PtxProblem::InvalidInitial { reason })
}

/// `+4`, or nothing.
fn offset_behind(cursor: &mut Cursor<'_, '_>) -> Result<i64, PtxError> {
    if cursor.is("+") { constant::parse_integer(cursor, "an offset").map(u64::cast_signed) } else { Ok(0) }
}
