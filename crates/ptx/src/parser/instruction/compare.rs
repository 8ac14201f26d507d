//! Comparisons and choices.

use super::super::fit::Fit;
use super::super::site::Site;
use super::super::syntax::Operand;
use crate::error::PtxError;
use crate::instruction::{BoolOp, Combine, Comparison, Operation, Set, SetPredicate, TernaryOp};
use crate::types::{FloatType, ScalarType, TypeClass};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "setp" => set_predicate(site),
        "set" => set(site),
        "selp" => select(site),
        _ => select_by_sign(site),
    }
}

/// A type that can be compared: no bytes, and not as wide as 128 bits.
fn comparable(ty: ScalarType) -> Option<ScalarType> {
    let is_half_pair = matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2);
    let is_other_pair = matches!(ty, ScalarType::U16x2 | ScalarType::S16x2 | ScalarType::F32x2 | ScalarType::Tf32);
    let is_number = ty != ScalarType::Pred && matches!(ty.size(), 2 | 4 | 8);
    Some(ty).filter(|_| is_number && (is_half_pair || !is_other_pair))
}

/// The relation that two values of the type can have.
fn comparison(site: &mut Site<'_, '_, '_, '_>, ty: ScalarType) -> Result<Comparison, PtxError> {
    const EQUALITY: [(&str, Comparison); 2] = [(".eq", Comparison::Equal), (".ne", Comparison::NotEqual)];
    const ORDER: [(&str, Comparison); 4] = [
        (".lt", Comparison::Less),
        (".le", Comparison::LessEqual),
        (".gt", Comparison::Greater),
        (".ge", Comparison::GreaterEqual),
    ];
    const UNSIGNED: [(&str, Comparison); 4] = [
        (".lo", Comparison::Less),
        (".ls", Comparison::LessEqual),
        (".hi", Comparison::Greater),
        (".hs", Comparison::GreaterEqual),
    ];
    const UNORDERED: [(&str, Comparison); 8] = [
        (".equ", Comparison::EqualOrUnordered),
        (".neu", Comparison::NotEqualOrUnordered),
        (".ltu", Comparison::LessOrUnordered),
        (".leu", Comparison::LessEqualOrUnordered),
        (".gtu", Comparison::GreaterOrUnordered),
        (".geu", Comparison::GreaterEqualOrUnordered),
        (".num", Comparison::Ordered),
        (".nan", Comparison::Unordered),
    ];
    let tables: &[&[_]] = match ty.class() {
        TypeClass::Bits => &[&EQUALITY],
        TypeClass::Unsigned => &[&EQUALITY, &ORDER, &UNSIGNED],
        TypeClass::Float => &[&EQUALITY, &ORDER, &UNORDERED],
        TypeClass::Signed | TypeClass::Predicate => &[&EQUALITY, &ORDER],
    };
    let found = tables.iter().find_map(|table| site.modifiers.choose(table));
    found.ok_or_else(|| site.modifiers.missing("a comparison such as `.eq` that its type has"))
}

fn combine_op(site: &mut Site<'_, '_, '_, '_>) -> Option<BoolOp> {
    site.modifiers.choose(&[(".and", BoolOp::And), (".or", BoolOp::Or), (".xor", BoolOp::Xor)])
}

fn combine<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    op: Option<BoolOp>,
    with: Option<Operand<'a>>,
) -> Result<Option<Combine>, PtxError> {
    match (op, with) {
        (Some(op), Some(with)) => Ok(Some(Combine { op, with: site.predicate(&with)? })),
        _ => Ok(None),
    }
}

/// `.ftz`, for single and half precision.
fn ftz(site: &mut Site<'_, '_, '_, '_>, ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F32 | ScalarType::F16 | ScalarType::F16x2) && site.modifiers.flag(".ftz")
}

fn set_predicate(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(comparable)?;
    let comparison = comparison(site, ty)?;
    let op = combine_op(site);
    let ftz = ftz(site, ty);
    let with = if op.is_some() { site.take_beyond(3) } else { None };
    if op.is_some() && with.is_none() {
        return Err(site.modifiers.missing("a fourth operand beside `.and`, `.or` and `.xor`"));
    }
    let [d, a, b] = site.take()?;
    let (p, q) = site.pair(d);
    let p = site.sink(&p, ScalarType::Pred, Fit::Exact)?;
    let q = q.map_or(Ok(None), |q| site.sink(&q, ScalarType::Pred, Fit::Exact))?;
    let (a, b) = (site.value(&a, ty)?, site.value(&b, ty)?);
    let combine = combine(site, op, with)?;
    Ok(Operation::SetPredicate(SetPredicate { comparison, ty, ftz, combine, p, q, a, b }))
}

/// The types that the outcome of a comparison of `ty` can have.
fn outcome(to: ScalarType, ty: ScalarType) -> Option<ScalarType> {
    let is_word = matches!(to, ScalarType::U32 | ScalarType::S32);
    let is_half = matches!(ty, ScalarType::F16 | ScalarType::Bf16);
    let fits = match to {
        ScalarType::F32 => !is_half && !matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2),
        ScalarType::U16 | ScalarType::S16 => is_half,
        ScalarType::F16 => !matches!(ty, ScalarType::Bf16 | ScalarType::F16x2 | ScalarType::Bf16x2),
        ScalarType::Bf16 => !matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2),
        ScalarType::F16x2 | ScalarType::Bf16x2 => to == ty,
        _ => is_word,
    };
    Some(to).filter(|_| fits)
}

fn set(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let to = site.modifiers.ty(Some)?;
    let ty = site.modifiers.ty(|ty| comparable(ty).filter(|ty| outcome(to, *ty).is_some()))?;
    let comparison = comparison(site, ty)?;
    let op = combine_op(site);
    let ftz = ftz(site, ty);
    let with = if op.is_some() { site.take_beyond(3) } else { None };
    if op.is_some() && with.is_none() {
        return Err(site.modifiers.missing("a fourth operand beside `.and`, `.or` and `.xor`"));
    }
    let [d, a, b] = site.take()?;
    let destination = site.destination(&d, to)?;
    let (a, b) = (site.value(&a, ty)?, site.value(&b, ty)?);
    let combine = combine(site, op, with)?;
    Ok(Operation::Set(Set { comparison, ty, to, ftz, combine, destination, a, b }))
}

/// A type whose values can be chosen.
fn chosen(ty: ScalarType) -> Option<ScalarType> {
    let is_wide = matches!(ty, ScalarType::F32 | ScalarType::F64);
    let is_other = FloatType::of(ty).is_some() || matches!(ty, ScalarType::Tf32 | ScalarType::Pred);
    let is_pair = matches!(ty, ScalarType::U16x2 | ScalarType::S16x2);
    Some(ty).filter(|ty| is_wide || !is_other && !is_pair && matches!(ty.size(), 2 | 4 | 8))
}

fn select(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(chosen)?;
    let [d, a, b, c] = site.take()?;
    let destination = site.destination(&d, ty)?;
    let (a, b) = (site.value(&a, ty)?, site.value(&b, ty)?);
    let predicate = site.predicate(&c)?;
    let (a, b) = if predicate.negated { (b, a) } else { (a, b) };
    let op = TernaryOp::Select { bits: ty.bits() };
    Ok(Operation::Ternary { op, destination, a, b, c: predicate.value })
}

fn select_by_sign(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(chosen)?;
    let by = site.modifiers.ty(|by| Some(by).filter(|by| matches!(by, ScalarType::S32 | ScalarType::F32)))?;
    let bits = ty.bits();
    let op = match by {
        ScalarType::F32 => TernaryOp::SelectFloat { bits, ftz: site.modifiers.flag(".ftz") },
        _ => TernaryOp::SelectSigned { bits },
    };
    let [d, a, b, c] = site.take()?;
    let destination = site.destination(&d, ty)?;
    let (a, b) = (site.value(&a, ty)?, site.value(&b, ty)?);
    Ok(Operation::Ternary { op, destination, a, b, c: site.value(&c, by)? })
}
