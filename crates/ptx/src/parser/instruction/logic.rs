//! Logic, shifts and what counts or moves bits.

use super::super::site::{Site, is_sink};
use crate::error::{PtxError, PtxProblem};
use crate::instruction::{BinaryOp, Lop3, Lop3Predicate, Operation, Permute, TernaryOp, UnaryOp};
use crate::types::{BitType, IntegerType, ScalarType};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "and" => two(site, BinaryOp::And),
        "or" => two(site, BinaryOp::Or),
        "xor" => two(site, BinaryOp::Xor),
        "not" => one(site, UnaryOp::Not, BitType::of, None),
        "cnot" => one(site, UnaryOp::LogicalNot, number, None),
        "popc" => one(site, UnaryOp::PopCount, large, Some(ScalarType::U32)),
        "clz" => one(site, UnaryOp::LeadingZeros, large, Some(ScalarType::U32)),
        "brev" => one(site, UnaryOp::ReverseBits, large, None),
        "shl" => {
            let ty = site.modifiers.ty(number)?;
            shift(site, BinaryOp::ShiftLeft(ty), ty.scalar())
        }
        "shr" => {
            let ty = site.modifiers.ty(shifted)?;
            shift(site, BinaryOp::ShiftRight(ty), ty.scalar())
        }
        "shf" => funnel(site),
        "lop3" => lop3(site),
        "bfi" => insert(site),
        "bmsk" => mask(site),
        "fns" => {
            site.modifiers.ty(word)?;
            words(site, TernaryOp::FindNthSet)
        }
        _ => permute(site),
    }
}

fn number(ty: ScalarType) -> Option<BitType> {
    BitType::of(ty).filter(|ty| *ty != BitType::Pred)
}

fn large(ty: ScalarType) -> Option<BitType> {
    number(ty).filter(|ty| ty.bits() >= 32)
}

fn word(ty: ScalarType) -> Option<BitType> {
    number(ty).filter(|ty| ty.bits() == 32)
}

/// Bits are shifted to the right as unsigned integers are.
fn shifted(ty: ScalarType) -> Option<IntegerType> {
    match ty {
        ScalarType::B16 => Some(IntegerType::U16),
        ScalarType::B32 => Some(IntegerType::U32),
        ScalarType::B64 => Some(IntegerType::U64),
        _ => IntegerType::of(ty).filter(|ty| !ty.is_packed()),
    }
}

fn one(
    site: &mut Site<'_, '_, '_, '_>,
    op: fn(BitType) -> UnaryOp,
    of: fn(ScalarType) -> Option<BitType>,
    to: Option<ScalarType>,
) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(of)?;
    let [d, a] = site.take()?;
    let destination = site.destination(&d, to.unwrap_or(ty.scalar()))?;
    Ok(Operation::Unary { op: op(ty), destination, source: site.value(&a, ty.scalar())? })
}

fn two(site: &mut Site<'_, '_, '_, '_>, op: fn(BitType) -> BinaryOp) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(BitType::of)?;
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op: op(ty),
        destination: site.destination(&d, ty.scalar())?,
        a: site.value(&a, ty.scalar())?,
        b: site.value(&b, ty.scalar())?,
    })
}

fn shift(site: &mut Site<'_, '_, '_, '_>, op: BinaryOp, ty: ScalarType) -> Result<Operation, PtxError> {
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op,
        destination: site.destination(&d, ty)?,
        a: site.value(&a, ty)?,
        b: site.value(&b, ScalarType::U32)?,
    })
}

/// Three words to one.
fn words(site: &mut Site<'_, '_, '_, '_>, op: TernaryOp) -> Result<Operation, PtxError> {
    let [d, a, b, c] = site.take()?;
    Ok(Operation::Ternary {
        op,
        destination: site.destination(&d, ScalarType::B32)?,
        a: site.value(&a, ScalarType::B32)?,
        b: site.value(&b, ScalarType::B32)?,
        c: site.value(&c, ScalarType::B32)?,
    })
}

fn funnel(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let left = site.modifiers.need(&[(".l", true), (".r", false)], "`.l` or `.r`")?;
    let wrap = site.modifiers.need(&[(".wrap", true), (".clamp", false)], "`.wrap` or `.clamp`")?;
    site.modifiers.ty(word)?;
    words(site, if left { TernaryOp::FunnelLeft { wrap } } else { TernaryOp::FunnelRight { wrap } })
}

fn permute(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    site.modifiers.ty(word)?;
    let modes = [
        (".f4e", Permute::Forward4),
        (".b4e", Permute::Backward4),
        (".rc8", Permute::Replicate8),
        (".ecl", Permute::ClampLeft),
        (".ecr", Permute::ClampRight),
        (".rc16", Permute::Replicate16),
    ];
    let mode = site.modifiers.choose(&modes).unwrap_or(Permute::Default);
    words(site, TernaryOp::Permute(mode))
}

fn lop3(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let and = site.modifiers.choose(&[(".and", true), (".or", false)]);
    site.modifiers.ty(word)?;
    let with = if and.is_some() { site.take_beyond(5) } else { None };
    let [d, a, b, c, table] = site.take()?;
    let (d, p) = site.pair(d);
    let predicate = match (and, p, with) {
        (None, None, None) => None,
        (Some(and), Some(p), Some(with)) => Some(Lop3Predicate {
            and,
            destination: site.destination(&p, ScalarType::Pred)?,
            with: site.predicate(&with)?,
        }),
        (Some(_), ..) => return Err(site.modifiers.missing("`d|p` and a predicate beside `.and` and `.or`")),
        _ => return Err(site.modifiers.missing("`.and` or `.or` beside `d|p`")),
    };
    let destination = match is_sink(&d) && predicate.is_some() {
        true => None,
        false => Some(site.destination(&d, ScalarType::B32)?),
    };
    let (a, b) = (site.value(&a, ScalarType::B32)?, site.value(&b, ScalarType::B32)?);
    let (c, place) = (site.value(&c, ScalarType::B32)?, table.at);
    let table = site.integer(&table)?;
    let most = u64::from(u8::MAX);
    let problem = PtxProblem::NumberTooLarge { text: table.to_string(), most };
    let table = u8::try_from(table).map_err(|_| PtxError { at: place, problem })?;
    Ok(Operation::Lop3(Lop3 { table, destination, a, b, c, predicate }))
}

fn insert(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(large)?.scalar();
    let [d, a, b, start, length] = site.take()?;
    Ok(Operation::InsertBits {
        ty,
        destination: site.destination(&d, ty)?,
        a: site.value(&a, ty)?,
        b: site.value(&b, ty)?,
        start: site.value(&start, ScalarType::U32)?,
        length: site.value(&length, ScalarType::U32)?,
    })
}

fn mask(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let clamp = site.modifiers.need(&[(".clamp", true), (".wrap", false)], "`.clamp` or `.wrap`")?;
    site.modifiers.ty(word)?;
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op: BinaryOp::BitMask { clamp },
        destination: site.destination(&d, ScalarType::B32)?,
        a: site.value(&a, ScalarType::U32)?,
        b: site.value(&b, ScalarType::U32)?,
    })
}
