//! Constants and the expressions that they are written as.

use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::lexer::{Token, TokenKind};
use crate::operand::Immediate;
use crate::types::{ScalarType, TypeClass};

/// How deep expressions may be nested.
const MOST_DEPTH: u32 = 64;

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// 64 bits, and whether they are unsigned.
    Integer(u64, bool),
    /// The bits of `0f…`.
    Single(u32),
    /// `0d…` or a decimal fraction.
    Double(f64),
}

impl Constant {
    /// The constant as `ty` reads it; `None` where ptxas refuses the mixture.
    pub(crate) fn immediate(self, ty: ScalarType) -> Option<Immediate> {
        let bits = match (self, ty) {
            (Self::Integer(value, _), ScalarType::Pred) => u64::from(value != 0),
            (Self::Integer(value, _), _) if !ty.is_float() => value & mask(ty),
            (Self::Single(bits), ScalarType::F32 | ScalarType::B32) => bits.into(),
            (Self::Single(bits), ScalarType::F64) => f64::from(f32::from_bits(bits)).to_bits(),
            #[expect(clippy::cast_possible_truncation, reason = "a constant is rounded to the type that reads it")]
            (Self::Double(value), ScalarType::F32) => (value as f32).to_bits().into(),
            (Self::Double(value), ScalarType::F64 | ScalarType::B64) => value.to_bits(),
            _ => return None,
        };
        Some(Immediate { ty, bits })
    }

    /// The value of an integer.
    pub(crate) fn integer(self) -> Option<u64> {
        if let Self::Integer(value, _) = self { Some(value) } else { None }
    }

    fn is_true(self) -> bool {
        match self {
            Self::Integer(value, _) => value != 0,
            Self::Single(bits) => f32::from_bits(bits) != 0.0,
            Self::Double(value) => value != 0.0,
        }
    }
}

fn mask(ty: ScalarType) -> u64 {
    if ty.class() == TypeClass::Predicate { 1 } else { u64::MAX >> (64 - ty.bits().min(64)) }
}

/// Whether an expression can start with this token.
pub(crate) fn starts(token: &Token<'_>) -> bool {
    matches!(token.kind, TokenKind::Integer | TokenKind::Float)
        || ["-", "+", "~", "!", "(", "WARP_SZ"].iter().any(|start| token.is(start))
}

/// Reads an expression.
pub(crate) fn parse(cursor: &mut Cursor<'_, '_>) -> Result<Constant, PtxError> {
    conditional(cursor, 0)
}

/// Reads an expression of integers.
pub(crate) fn parse_integer(cursor: &mut Cursor<'_, '_>, expected: &'static str) -> Result<u64, PtxError> {
    let place = cursor.clone();
    if !cursor.peek().is_some_and(starts) {
        return Err(cursor.unexpected(expected));
    }
    parse(cursor)?.integer().ok_or_else(|| place.unexpected(expected))
}

fn conditional(cursor: &mut Cursor<'_, '_>, depth: u32) -> Result<Constant, PtxError> {
    let condition = binary(cursor, 0, depth)?;
    if !cursor.accept("?") {
        return Ok(condition);
    }
    let depth = deeper(cursor, depth)?;
    let yes = conditional(cursor, depth)?;
    cursor.expect(":", "`:`")?;
    let no = conditional(cursor, depth)?;
    Ok(if condition.is_true() { yes } else { no })
}

fn deeper(cursor: &Cursor<'_, '_>, depth: u32) -> Result<u32, PtxError> {
    if depth < MOST_DEPTH { Ok(depth + 1) } else { Err(cursor.error(PtxProblem::TooDeep { most: MOST_DEPTH })) }
}

/// The binary operators, the loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

fn binary(cursor: &mut Cursor<'_, '_>, level: usize, depth: u32) -> Result<Constant, PtxError> {
    let Some(operators) = LEVELS.get(level) else { return unary(cursor, depth) };
    let mut left = binary(cursor, level + 1, depth)?;
    while let Some(operator) = operators.iter().find(|operator| cursor.is(operator)) {
        let place = cursor.clone();
        cursor.advance();
        let right = binary(cursor, level + 1, depth)?;
        let problem = PtxProblem::InvalidExpression { operator };
        left = apply(operator, left, right).ok_or_else(|| place.error(problem))?;
    }
    Ok(left)
}

fn unary(cursor: &mut Cursor<'_, '_>, depth: u32) -> Result<Constant, PtxError> {
    let place = cursor.clone();
    let Some(token) = cursor.peek() else { return Err(cursor.unexpected("a constant")) };
    if let Some(operator) = ["-", "+", "~", "!"].iter().find(|operator| token.is(operator)) {
        cursor.advance();
        let value = unary(cursor, deeper(&place, depth)?)?;
        return prefix(operator, value).ok_or_else(|| place.error(PtxProblem::InvalidExpression { operator }));
    }
    if token.is("(") {
        cursor.advance();
        let depth = deeper(&place, depth)?;
        let cast = [".s64", ".u64"].iter().find(|cast| cursor.accept(cast));
        let Some(cast) = cast else {
            let value = conditional(cursor, depth)?;
            cursor.expect(")", "`)`")?;
            return Ok(value);
        };
        cursor.expect(")", "`)`")?;
        let value = unary(cursor, depth)?.integer();
        let problem = PtxProblem::InvalidExpression { operator: cast };
        return value.map(|value| Constant::Integer(value, *cast == ".u64")).ok_or_else(|| place.error(problem));
    }
    literal(cursor)
}

fn prefix(operator: &str, value: Constant) -> Option<Constant> {
    Some(match (operator, value) {
        ("-", Constant::Integer(value, unsigned)) => Constant::Integer(value.wrapping_neg(), unsigned),
        ("-", Constant::Double(value)) => Constant::Double(-value),
        ("-", Constant::Single(bits)) => Constant::Single(bits ^ 1 << 31),
        ("+", value) => value,
        ("~", Constant::Integer(value, unsigned)) => Constant::Integer(!value, unsigned),
        ("!", value) => Constant::Integer(u64::from(!value.is_true()), false),
        _ => return None,
    })
}

fn literal(cursor: &mut Cursor<'_, '_>) -> Result<Constant, PtxError> {
    /// How many threads a warp has.
    const WARP_SIZE: u64 = 32;
    if cursor.accept("WARP_SZ") {
        return Ok(Constant::Integer(WARP_SIZE, false));
    }
    let place = cursor.clone();
    let token = cursor.take(&[TokenKind::Integer, TokenKind::Float], "a constant")?;
    if token.kind == TokenKind::Integer {
        let value = token.integer().ok_or_else(|| place.error(too_large(token)))?;
        return Ok(Constant::Integer(value, token.text.ends_with('U') || value > i64::MAX.cast_unsigned()));
    }
    float(token).ok_or_else(|| place.unexpected("a constant"))
}

fn too_large(token: &Token<'_>) -> PtxProblem {
    PtxProblem::NumberTooLarge { text: crate::error::excerpt(token.text), most: u64::MAX }
}

fn float(token: &Token<'_>) -> Option<Constant> {
    let bits = |text| u64::from_str_radix(text, 16).ok();
    match token.text.get(..2) {
        Some("0f" | "0F") => bits(&token.text[2..]).and_then(|bits| u32::try_from(bits).ok()).map(Constant::Single),
        Some("0d" | "0D") => bits(&token.text[2..]).map(f64::from_bits).map(Constant::Double),
        _ => token.text.parse().ok().map(Constant::Double),
    }
}

/// The result of a binary operator: on integers of 64 bits that wrap around, or on doubles.
fn apply(operator: &str, left: Constant, right: Constant) -> Option<Constant> {
    match (left, right) {
        (Constant::Integer(a, a_unsigned), Constant::Integer(b, b_unsigned)) => {
            integers(operator, a, b, a_unsigned || b_unsigned)
        }
        (Constant::Double(a), Constant::Double(b)) => doubles(operator, a, b),
        _ => None,
    }
}

fn integers(operator: &str, a: u64, b: u64, unsigned: bool) -> Option<Constant> {
    let (signed_a, signed_b) = (a.cast_signed(), b.cast_signed());
    let amount = u32::try_from(b).unwrap_or(u32::MAX);
    let less = if unsigned { a < b } else { signed_a < signed_b };
    let value = match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if unsigned => a.checked_div(b)?,
        "/" => signed_a.checked_div(signed_b)?.cast_unsigned(),
        "%" if unsigned => a.checked_rem(b)?,
        "%" => signed_a.checked_rem(signed_b)?.cast_unsigned(),
        "<<" => a.checked_shl(amount).unwrap_or(0),
        ">>" if unsigned => a.checked_shr(amount).unwrap_or(0),
        ">>" => (signed_a >> amount.min(63)).cast_unsigned(),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "&&" => (a != 0 && b != 0).into(),
        "||" => (a != 0 || b != 0).into(),
        "==" => (a == b).into(),
        "!=" => (a != b).into(),
        "<" => less.into(),
        ">=" => (!less).into(),
        ">" => (!less && a != b).into(),
        "<=" => (less || a == b).into(),
        _ => return None,
    };
    let is_truth = ["&&", "||", "==", "!=", "<", ">=", ">", "<="].contains(&operator);
    Some(Constant::Integer(value, unsigned && !is_truth))
}

fn doubles(operator: &str, a: f64, b: f64) -> Option<Constant> {
    let truth = |value: bool| Constant::Integer(value.into(), false);
    Some(match operator {
        "+" => Constant::Double(a + b),
        "-" => Constant::Double(a - b),
        "*" => Constant::Double(a * b),
        "/" => Constant::Double(a / b),
        "<" => truth(a < b),
        "<=" => truth(a <= b),
        ">" => truth(a > b),
        ">=" => truth(a >= b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        _ => return None,
    })
}
