//! The parameters of an entry and where they lie in its parameter buffer.

use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::types::ScalarType;

/// The most parameter bytes that ptxas 13.0 accepts for any device ("0x7ffc max").
const MOST_PARAMETER_BYTES: u32 = 32_764;

/// A parameter of an entry.
///
/// # Units
/// Bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ParamType,
    /// How many bytes it takes.
    pub size: u32,
    /// What its offset is a multiple of: the size of its type or element, or its `.align` if that is more.
    pub align: u32,
    /// Where it starts in the parameter buffer.
    pub offset: u32,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// One value.
    Scalar(ScalarType),
    /// An array, which is how structures are passed: mostly of `.b8`.
    Array {
        /// The type of its elements.
        element: ScalarType,
        /// How many there are.
        count: u32,
    },
}

/// Where the last of the parameters ends.
pub(crate) fn end(params: &[Param]) -> u32 {
    params.last().map_or(0, |last| last.offset + last.size)
}

/// Reads a parameter in `.param`, which lies behind others that end at byte `end`.
pub(crate) fn parse(cursor: &mut Cursor<'_, '_>, end: u32) -> Result<Param, PtxError> {
    let start = cursor.clone();
    cursor.expect(".param", "`.param`")?;
    let mut align = alignment(cursor)?;
    let unknown = cursor.error(PtxProblem::UnknownParameterType { found: cursor.found() });
    let directive = cursor.peek().and_then(|token| ScalarType::from_directive(token.text));
    let element = directive.filter(|ty| ty.is_fundamental()).ok_or(unknown)?;
    cursor.advance();
    align = align.max(alignment(cursor)?);
    skip_pointer_attribute(cursor)?;
    let name = cursor.identifier("a parameter name")?.text.to_owned();
    let ty = match array_length(cursor)? {
        None => ParamType::Scalar(element),
        Some(count) => ParamType::Array { element, count },
    };
    // An `.align` cannot lower the alignment: ptxas 13.0 puts `.param .align 4 .u64` at a multiple of 8.
    let align = element.size().max(align.unwrap_or(1));
    place_after(end, name, ty, align).map_err(|problem| start.error(problem))
}

/// `.align <n>`, if it comes next.
pub(crate) fn alignment(cursor: &mut Cursor<'_, '_>) -> Result<Option<u32>, PtxError> {
    if !cursor.accept(".align") {
        return Ok(None);
    }
    let place = cursor.clone();
    let align = cursor.integer("an alignment")?;
    if !align.is_power_of_two() {
        return Err(place.error(PtxProblem::InvalidAlignment { align }));
    }
    Ok(Some(align))
}

/// `.ptr .global .align 16` says what the value points to, and changes nothing about the parameter itself.
fn skip_pointer_attribute(cursor: &mut Cursor<'_, '_>) -> Result<(), PtxError> {
    if !cursor.accept(".ptr") {
        return Ok(());
    }
    let spaces = [".const", ".global", ".local", ".shared"];
    if cursor.peek().is_some_and(|token| spaces.iter().any(|space| token.text.starts_with(space))) {
        cursor.advance();
    }
    alignment(cursor).map(drop)
}

fn array_length(cursor: &mut Cursor<'_, '_>) -> Result<Option<u32>, PtxError> {
    if !cursor.accept("[") {
        return Ok(None);
    }
    let place = cursor.clone();
    let count = cursor.integer("the length of the array")?;
    if count == 0 {
        return Err(place.unexpected("an array of at least one element"));
    }
    cursor.expect("]", "`]`")?;
    Ok(Some(count))
}

/// The parameter at the first fitting offset from `end` on.
fn place_after(end: u32, name: String, ty: ParamType, align: u32) -> Result<Param, PtxProblem> {
    let size = match ty {
        ParamType::Scalar(scalar) => u64::from(scalar.size()),
        ParamType::Array { element, count } => u64::from(element.size()) * u64::from(count),
    };
    let offset = u64::from(end).next_multiple_of(u64::from(align));
    let bytes = offset + size;
    let too_large = PtxProblem::ParametersTooLarge { bytes, most: MOST_PARAMETER_BYTES };
    if bytes > u64::from(MOST_PARAMETER_BYTES) {
        return Err(too_large);
    }
    // Both are at most `bytes`, which fits.
    let narrow = |value: u64| u32::try_from(value).map_err(|_| too_large.clone());
    Ok(Param { name, ty, size: narrow(size)?, align, offset: narrow(offset)? })
}
