//! Arithmetic of integers.

use super::super::fit::Fit;
use super::super::site::Site;
use crate::error::PtxError;
use crate::instruction::{BinaryOp, Carry, CarryOp, Half, Operation, TernaryOp, UnaryOp};
use crate::operand::RegisterId;
use crate::types::{IntegerType, ScalarType};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "add" | "sub" | "addc" | "subc" => sum(site),
        "mul" => mul(site),
        "mad" | "madc" => mad(site),
        "mul24" | "mad24" => low_24(site),
        "div" => plain_binary(site, BinaryOp::Div),
        "rem" => plain_binary(site, BinaryOp::Rem),
        "min" => min_max(site, |ty, relu| BinaryOp::Min { ty, relu }),
        "max" => min_max(site, |ty, relu| BinaryOp::Max { ty, relu }),
        "neg" => signed_unary(site, UnaryOp::Neg),
        "abs" => signed_unary(site, UnaryOp::Abs),
        "bfind" => find_leading(site),
        "sad" => sad(site),
        "bfe" => extract(site),
        "szext" => extend(site),
        _ => dot(site),
    }
}

/// A type that is no pair.
fn single(ty: ScalarType) -> Option<IntegerType> {
    IntegerType::of(ty).filter(|ty| !ty.is_packed())
}

/// 32 or 64 bits.
fn large(ty: ScalarType) -> Option<IntegerType> {
    single(ty).filter(|ty| ty.bits() >= 32)
}

/// 32 bits.
fn word(ty: ScalarType) -> Option<IntegerType> {
    single(ty).filter(|ty| ty.bits() == 32)
}

/// Twice as wide, with or without a sign.
fn double(ty: IntegerType) -> ScalarType {
    if ty.bits() == 16 { ScalarType::B32 } else { ScalarType::B64 }
}

fn binary(
    site: &mut Site<'_, '_, '_, '_>,
    op: BinaryOp,
    to: ScalarType,
    from: ScalarType,
) -> Result<Operation, PtxError> {
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op,
        destination: site.destination(&d, to)?,
        a: site.value(&a, from)?,
        b: site.value(&b, from)?,
    })
}

fn plain_binary(site: &mut Site<'_, '_, '_, '_>, op: fn(IntegerType) -> BinaryOp) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(single)?;
    binary(site, op(ty), ty.scalar(), ty.scalar())
}

fn sum(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let name = site.modifiers.opcode.text;
    let (is_add, carry_in) = (name.starts_with("add"), name.ends_with('c'));
    let carry_out = site.modifiers.flag(".cc");
    if carry_in || carry_out {
        let ty = site.modifiers.ty(large)?;
        let op = if is_add { CarryOp::Add } else { CarryOp::Sub };
        let [d, a, b] = site.take()?;
        let destination = site.destination(&d, ty.scalar())?;
        let (a, b) = (site.value(&a, ty.scalar())?, site.value(&b, ty.scalar())?);
        let (carry_in, carry_out) = flags(site, carry_in, carry_out);
        return Ok(Operation::Carry(Carry { op, ty, carry_in, carry_out, destination, a, b, c: None }));
    }
    let ty = site.modifiers.ty(if is_add { IntegerType::of } else { single })?;
    let saturate = ty == IntegerType::S32 && site.modifiers.flag(".sat");
    let op = if is_add { BinaryOp::Add { ty, saturate } } else { BinaryOp::Sub { ty, saturate } };
    binary(site, op, ty.scalar(), ty.scalar())
}

/// The carry flag where it is read and where it is written.
fn flags(site: &mut Site<'_, '_, '_, '_>, carry_in: bool, carry_out: bool) -> (Option<RegisterId>, Option<RegisterId>) {
    let flag = site.names.carry_flag();
    (carry_in.then_some(flag), carry_out.then_some(flag))
}

fn half(site: &mut Site<'_, '_, '_, '_>) -> Result<Half, PtxError> {
    let halves = [(".lo", Half::Low), (".hi", Half::High), (".wide", Half::Wide)];
    site.modifiers.need(&halves, "`.lo`, `.hi` or `.wide`")
}

fn mul(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let half = half(site)?;
    let ty = site.modifiers.ty(|ty| single(ty).filter(|ty| half != Half::Wide || ty.bits() < 64))?;
    let to = if half == Half::Wide { double(ty) } else { ty.scalar() };
    binary(site, BinaryOp::Mul { ty, half }, to, ty.scalar())
}

fn mad(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let carry_in = site.modifiers.opcode.text == "madc";
    let half = half(site)?;
    let carry_out = site.modifiers.flag(".cc");
    if carry_in || carry_out {
        let ty = site.modifiers.ty(large)?;
        let op = match half {
            Half::Low => CarryOp::MadLow,
            Half::High => CarryOp::MadHigh,
            Half::Wide => return Err(site.modifiers.missing("`.lo` or `.hi`")),
        };
        let [d, a, b, c] = site.take()?;
        let destination = site.destination(&d, ty.scalar())?;
        let (a, b) = (site.value(&a, ty.scalar())?, site.value(&b, ty.scalar())?);
        let c = Some(site.value(&c, ty.scalar())?);
        let (carry_in, carry_out) = flags(site, carry_in, carry_out);
        return Ok(Operation::Carry(Carry { op, ty, carry_in, carry_out, destination, a, b, c }));
    }
    let ty = site.modifiers.ty(|ty| single(ty).filter(|ty| half != Half::Wide || ty.bits() < 64))?;
    let saturate = half == Half::High && ty == IntegerType::S32 && site.modifiers.flag(".sat");
    let to = if half == Half::Wide { double(ty) } else { ty.scalar() };
    ternary(site, TernaryOp::Mad { ty, half, saturate }, to, ty.scalar())
}

/// The destination and the third value are of one type, the first two of another.
fn ternary(
    site: &mut Site<'_, '_, '_, '_>,
    op: TernaryOp,
    to: ScalarType,
    from: ScalarType,
) -> Result<Operation, PtxError> {
    let [d, a, b, c] = site.take()?;
    Ok(Operation::Ternary {
        op,
        destination: site.destination(&d, to)?,
        a: site.value(&a, from)?,
        b: site.value(&b, from)?,
        c: site.value(&c, to)?,
    })
}

fn low_24(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let half = site.modifiers.need(&[(".lo", Half::Low), (".hi", Half::High)], "`.lo` or `.hi`")?;
    let ty = site.modifiers.ty(word)?;
    if site.modifiers.opcode.text == "mul24" {
        return binary(site, BinaryOp::Mul24 { ty, half }, ty.scalar(), ty.scalar());
    }
    let saturate = half == Half::High && ty == IntegerType::S32 && site.modifiers.flag(".sat");
    ternary(site, TernaryOp::Mad24 { ty, half, saturate }, ty.scalar(), ty.scalar())
}

fn min_max(site: &mut Site<'_, '_, '_, '_>, op: fn(IntegerType, bool) -> BinaryOp) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(IntegerType::of)?;
    let relu = matches!(ty, IntegerType::S32 | IntegerType::S16x2) && site.modifiers.flag(".relu");
    binary(site, op(ty, relu), ty.scalar(), ty.scalar())
}

fn signed_unary(site: &mut Site<'_, '_, '_, '_>, op: fn(IntegerType) -> UnaryOp) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(|ty| single(ty).filter(|ty| ty.is_signed()))?;
    let [d, a] = site.take()?;
    let destination = site.destination(&d, ty.scalar())?;
    Ok(Operation::Unary { op: op(ty), destination, source: site.value(&a, ty.scalar())? })
}

fn find_leading(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let shift_amount = site.modifiers.flag(".shiftamt");
    let ty = site.modifiers.ty(large)?;
    let [d, a] = site.take()?;
    let destination = site.destination(&d, ScalarType::U32)?;
    let op = UnaryOp::FindLeading { ty, shift_amount };
    Ok(Operation::Unary { op, destination, source: site.value(&a, ty.scalar())? })
}

fn sad(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(single)?;
    ternary(site, TernaryOp::SumOfDifferences(ty), ty.scalar(), ty.scalar())
}

fn extract(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(large)?;
    let [d, a, b, c] = site.take()?;
    Ok(Operation::Ternary {
        op: TernaryOp::ExtractBits(ty),
        destination: site.destination(&d, ty.scalar())?,
        a: site.value(&a, ty.scalar())?,
        b: site.value(&b, ScalarType::U32)?,
        c: site.value(&c, ScalarType::U32)?,
    })
}

fn extend(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let clamp = site.modifiers.need(&[(".clamp", true), (".wrap", false)], "`.clamp` or `.wrap`")?;
    let ty = site.modifiers.ty(word)?;
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op: BinaryOp::Extend { ty, clamp },
        destination: site.destination(&d, ty.scalar())?,
        a: site.value(&a, ty.scalar())?,
        b: site.source(&b, ScalarType::U32, Fit::Exact)?,
    })
}

fn dot(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let halves = [(".lo", false), (".hi", true)];
    let upper = match site.modifiers.opcode.text {
        "dp2a" => Some(site.modifiers.need(&halves, "`.lo` or `.hi`")?),
        _ => None,
    };
    let a_signed = site.modifiers.ty(word)?.is_signed();
    let b_signed = site.modifiers.ty(word)?.is_signed();
    let op =
        upper.map_or(TernaryOp::Dot4 { a_signed, b_signed }, |upper| TernaryOp::Dot2 { a_signed, b_signed, upper });
    ternary(site, op, ScalarType::B32, ScalarType::B32)
}
