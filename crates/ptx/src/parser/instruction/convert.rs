//! Conversions of values and of addresses.

use super::super::fit::Fit;
use super::super::site::Site;
use crate::error::PtxError;
use crate::instruction::{BinaryOp, Conversion, CvtPack, CvtPackTo, Operation, Rounding, StateSpace, UnaryOp};
use crate::types::{ScalarType, TypeClass};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "cvt" => convert(site),
        "cvta" => address(site),
        "isspacep" => is_space(site),
        "mapa" => map_address(site),
        _ => rank(site),
    }
}

/// The types that values are converted from and to.
fn converted(ty: ScalarType) -> Option<ScalarType> {
    let is_other = matches!(ty, ScalarType::U16x2 | ScalarType::S16x2 | ScalarType::F32x2 | ScalarType::Pred);
    Some(ty).filter(|ty| !is_other && ty.class() != TypeClass::Bits)
}

/// The types of one number.
fn single(ty: ScalarType) -> Option<ScalarType> {
    converted(ty).filter(|ty| !is_packed(*ty) && *ty != ScalarType::Tf32)
}

fn is_packed(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2)
}

fn is_single(ty: ScalarType) -> Option<ScalarType> {
    Some(ty).filter(|ty| *ty == ScalarType::F32)
}

/// Whether a float of type `to` holds every value of `from`.
fn is_exact(to: ScalarType, from: ScalarType) -> bool {
    to == from || !is_packed(to) && to.size() >= from.size() && !is_mixture(to, from)
}

/// Whether neither of two halves holds all values of the other.
fn is_mixture(to: ScalarType, from: ScalarType) -> bool {
    matches!((to, from), (ScalarType::F16, ScalarType::Bf16) | (ScalarType::Bf16, ScalarType::F16))
}

/// Whether an integer type holds every value of another.
fn holds(to: ScalarType, from: ScalarType) -> bool {
    let grows = to.bits() > from.bits() && (to.is_signed() || !from.is_signed());
    !to.is_float() && !from.is_float() && (to == from || grows)
}

fn convert(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    if site.modifiers.flag(".pack") {
        return pack(site);
    }
    let to = site.modifiers.ty(converted)?;
    let special = is_packed(to) || to == ScalarType::Tf32;
    let from = site.modifiers.ty(if special { is_single } else { single })?;
    let (integral, rounding) = rounding(site, to, from)?;
    let is_half = matches!(to, ScalarType::F16 | ScalarType::Bf16) || special;
    let ftz = (to == ScalarType::F32 || from == ScalarType::F32) && site.modifiers.flag(".ftz");
    let saturate = !holds(to, from) && site.modifiers.flag(".sat");
    let relu = is_half && from.is_float() && site.modifiers.flag(".relu");
    let satfinite = is_half && from.is_float() && site.modifiers.flag(".satfinite");
    let conversion = Conversion { to, from, rounding, integral, ftz, saturate, relu, satfinite };
    if is_packed(to) {
        let [d, a, b] = site.take()?;
        let destination = site.destination(&d, to)?;
        let (a, b) = (site.value(&a, from)?, site.value(&b, from)?);
        return Ok(Operation::Convert { conversion, destination, a, b: Some(b) });
    }
    let [d, a] = site.take()?;
    let destination = site.register(&d, to, if to == ScalarType::Bf16 { Fit::Exact } else { Fit::Wider })?;
    let a = site.value_or_moved(&a, from, Fit::Wider)?;
    Ok(Operation::Convert { conversion, destination, a, b: None })
}

/// Whether the result is a whole number by name, and how it is rounded.
fn rounding(
    site: &mut Site<'_, '_, '_, '_>,
    to: ScalarType,
    from: ScalarType,
) -> Result<(bool, Option<Rounding>), PtxError> {
    let integral =
        [(".rni", Rounding::NearestEven), (".rzi", Rounding::Zero), (".rmi", Rounding::Down), (".rpi", Rounding::Up)];
    if to.is_float() && from.is_float() && to == from {
        let rounding = site.modifiers.choose(&integral);
        return Ok((rounding.is_some(), rounding));
    }
    if from.is_float() && !to.is_float() {
        let rounding = site.modifiers.need(&integral, "a rounding to an integer such as `.rzi`")?;
        return Ok((true, Some(rounding)));
    }
    if !to.is_float() || from.is_float() && is_exact(to, from) && to != ScalarType::Tf32 {
        // A rounding may be named here, though there is nothing to round.
        if from == ScalarType::Bf16 && to.is_float() {
            site.modifiers.refuse(&[".rna"])?;
            let _ = site.modifiers.rounding();
        }
        return Ok((false, None));
    }
    if to != ScalarType::Tf32 {
        site.modifiers.refuse(&[".rna"])?;
    }
    let named = site.modifiers.rounding().or(is_mixture(to, from).then_some(Rounding::NearestEven));
    let rounding = named.ok_or_else(|| site.modifiers.missing("a rounding such as `.rn`"))?;
    Ok((false, Some(rounding)))
}

fn pack(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    site.modifiers.need(&[(".sat", ())], "`.sat`")?;
    let narrow = [
        (".u16", CvtPackTo::U16),
        (".s16", CvtPackTo::S16),
        (".u8", CvtPackTo::U8),
        (".s8", CvtPackTo::S8),
        (".u4", CvtPackTo::U4),
        (".s4", CvtPackTo::S4),
        (".u2", CvtPackTo::U2),
        (".s2", CvtPackTo::S2),
    ];
    let to = site.modifiers.need(&narrow, "a type such as `.s8`")?;
    site.modifiers.need(&[(".s32", ())], "`.s32`")?;
    let merges = !matches!(to, CvtPackTo::U16 | CvtPackTo::S16);
    if merges {
        site.modifiers.need(&[(".b32", ())], "`.b32`")?;
    }
    let c = if merges { site.take_beyond(3) } else { None };
    if merges && c.is_none() {
        return Err(site.modifiers.missing("a fourth operand for this type"));
    }
    let [d, a, b] = site.take()?;
    Ok(Operation::ConvertPack(CvtPack {
        to,
        destination: site.destination(&d, ScalarType::B32)?,
        a: site.value(&a, ScalarType::S32)?,
        b: site.value(&b, ScalarType::S32)?,
        c: c.map(|c| site.value(&c, ScalarType::B32)).transpose()?,
    }))
}

/// `.u32` or `.u64`.
fn address_type(ty: ScalarType) -> Option<ScalarType> {
    Some(ty).filter(|ty| matches!(ty, ScalarType::U32 | ScalarType::U64))
}

/// The space of an instruction on addresses; `.param` alone is that of the entry.
fn space(site: &mut Site<'_, '_, '_, '_>) -> Result<StateSpace, PtxError> {
    if site.modifiers.flag(".param") {
        return Ok(StateSpace::ParamEntry);
    }
    match site.modifiers.space() {
        StateSpace::Generic => Err(site.modifiers.missing("a space such as `.global`")),
        space => Ok(space),
    }
}

fn address(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let to = site.modifiers.flag(".to");
    let space = space(site)?;
    let ty = site.modifiers.ty(|ty| Some(ty).filter(|ty| *ty == ScalarType::U64))?;
    let bits = ty.bits();
    let [d, a] = site.take()?;
    let destination = site.destination(&d, ty)?;
    if let Some((symbol, _)) = site.symbol(&a) {
        site.check_space(&a, symbol, space)?;
    }
    let (op, source) = match to {
        true => (UnaryOp::FromGeneric { space, bits }, site.value(&a, ty)?),
        false => (UnaryOp::ToGeneric { space, bits }, site.value_or_moved(&a, ty, Fit::Exact)?),
    };
    Ok(Operation::Unary { op, destination, source })
}

fn is_space(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let space = space(site)?;
    let [d, a] = site.take()?;
    let destination = site.destination(&d, ScalarType::Pred)?;
    let register = site.any_register(&a)?;
    let ty = if site.register_type(register).bits() == 32 { ScalarType::U32 } else { ScalarType::U64 };
    Ok(Operation::Unary { op: UnaryOp::IsSpace(space), destination, source: site.value(&a, ty)? })
}

/// The space of `mapa` and `getctarank`, and the type of the address.
fn cluster_address(site: &mut Site<'_, '_, '_, '_>) -> Result<(StateSpace, ScalarType), PtxError> {
    let is_shared = site.modifiers.flag(".shared::cluster");
    let space = if is_shared { StateSpace::SharedCluster } else { StateSpace::Generic };
    Ok((space, site.modifiers.ty(address_type)?))
}

fn map_address(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let (space, ty) = cluster_address(site)?;
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op: BinaryOp::MapAddress { space, bits: ty.bits() },
        destination: site.destination(&d, ty)?,
        a: site.value_or_moved(&a, ty, Fit::Exact)?,
        b: site.value(&b, ScalarType::U32)?,
    })
}

fn rank(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let (space, ty) = cluster_address(site)?;
    let [d, a] = site.take()?;
    let destination = site.destination(&d, ScalarType::U32)?;
    let op = UnaryOp::CtaRank { space, bits: ty.bits() };
    Ok(Operation::Unary { op, destination, source: site.value_or_moved(&a, ty, Fit::Exact)? })
}
