//! Arithmetic of floating-point numbers.

use super::super::site::Site;
use crate::error::PtxError;
use crate::instruction::{
    BinaryOp, FloatMinMax, FloatTest, Operation, Precision, Rounding, TernaryOp, Transcendental, UnaryOp,
};
use crate::types::{FloatType, ScalarType};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "add" | "sub" | "mul" => sum_or_product(site),
        "fma" | "mad" => fma(site),
        "div" => div(site),
        "rcp" | "sqrt" => root(site),
        "min" | "max" => min_max(site),
        "neg" => sign(site, |ty, ftz| UnaryOp::FloatNeg { ty, ftz }),
        "abs" => sign(site, |ty, ftz| UnaryOp::FloatAbs { ty, ftz }),
        "testp" => test(site),
        "copysign" => copy_sign(site),
        _ => transcendental(site),
    }
}

fn is_wide(ty: FloatType) -> bool {
    matches!(ty, FloatType::F32 | FloatType::F32x2 | FloatType::F64)
}

fn single_or_double(ty: ScalarType) -> Option<FloatType> {
    FloatType::of(ty).filter(|ty| matches!(ty, FloatType::F32 | FloatType::F64))
}

/// `.ftz`, which types of 64 bits and `bf16` do not have.
fn ftz(site: &mut Site<'_, '_, '_, '_>, ty: FloatType) -> bool {
    !matches!(ty, FloatType::F64 | FloatType::Bf16 | FloatType::Bf16x2) && site.modifiers.flag(".ftz")
}

/// `.sat`, which single and half precision have.
fn saturate(site: &mut Site<'_, '_, '_, '_>, ty: FloatType) -> bool {
    matches!(ty, FloatType::F16 | FloatType::F16x2 | FloatType::F32) && site.modifiers.flag(".sat")
}

/// A rounding of `ty`: types under 32 bits have the nearest only.
fn rounding(site: &mut Site<'_, '_, '_, '_>, ty: FloatType) -> Result<Option<Rounding>, PtxError> {
    site.modifiers.refuse(if is_wide(ty) { &[".rna"] } else { &[".rna", ".rz", ".rm", ".rp"] })?;
    Ok(site.modifiers.rounding())
}

/// The type of the factors of a mixed operation: `add.f32.f16`.
fn mixed(site: &mut Site<'_, '_, '_, '_>, ty: FloatType) -> Result<Option<FloatType>, PtxError> {
    if ty != FloatType::F32 || !site.modifiers.has_float() {
        return Ok(None);
    }
    let half = |ty| FloatType::of(ty).filter(|ty| matches!(ty, FloatType::F16 | FloatType::Bf16));
    site.modifiers.ty(half).map(Some)
}

fn sum_or_product(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let name = site.modifiers.opcode.text;
    let ty = site.modifiers.ty(FloatType::of)?;
    let from = if name == "mul" { None } else { mixed(site, ty)? };
    let rounding = rounding(site, ty)?.unwrap_or(Rounding::NearestEven);
    let (ftz, saturate) = (from.is_none() && ftz(site, ty), saturate(site, ty));
    let op = match name {
        "add" => BinaryOp::FloatAdd { ty, from, rounding, ftz, saturate },
        "sub" => BinaryOp::FloatSub { ty, from, rounding, ftz, saturate },
        _ => BinaryOp::FloatMul { ty, rounding, ftz, saturate },
    };
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op,
        destination: site.destination(&d, ty.scalar())?,
        a: site.value(&a, from.unwrap_or(ty).scalar())?,
        b: site.value(&b, ty.scalar())?,
    })
}

fn fma(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let is_mad = site.modifiers.opcode.text == "mad";
    let ty = site.modifiers.ty(|ty| if is_mad { single_or_double(ty) } else { FloatType::of(ty) })?;
    let from = if is_mad { None } else { mixed(site, ty)? };
    let rounding = rounding(site, ty)?.ok_or_else(|| site.modifiers.missing("a rounding such as `.rn`"))?;
    let (ftz, saturate) = (from.is_none() && ftz(site, ty), saturate(site, ty));
    let relu = !is_wide(ty) && site.modifiers.flag(".relu");
    let oob = !is_wide(ty) && site.modifiers.flag(".oob");
    let op = TernaryOp::Fma { ty, from, rounding, ftz, saturate, relu, oob };
    let factor = from.unwrap_or(ty).scalar();
    let [d, a, b, c] = site.take()?;
    Ok(Operation::Ternary {
        op,
        destination: site.destination(&d, ty.scalar())?,
        a: site.value(&a, factor)?,
        b: site.value(&b, factor)?,
        c: site.value(&c, ty.scalar())?,
    })
}

fn div(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(single_or_double)?;
    let named = if ty == FloatType::F32 {
        site.modifiers.choose(&[(".approx", Precision::Approximate), (".full", Precision::Full)])
    } else {
        None
    };
    let precision = precision(site, ty, named)?;
    let ftz = ftz(site, ty);
    let [d, a, b] = site.take()?;
    Ok(Operation::Binary {
        op: BinaryOp::FloatDiv { ty, precision, ftz },
        destination: site.destination(&d, ty.scalar())?,
        a: site.value(&a, ty.scalar())?,
        b: site.value(&b, ty.scalar())?,
    })
}

fn precision(site: &mut Site<'_, '_, '_, '_>, ty: FloatType, named: Option<Precision>) -> Result<Precision, PtxError> {
    if let Some(precision) = named {
        return Ok(precision);
    }
    let missing = "a rounding such as `.rn`, or `.approx`";
    let rounding = rounding(site, ty)?.ok_or_else(|| site.modifiers.missing(missing))?;
    Ok(Precision::Rounded(rounding))
}

fn root(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let is_rcp = site.modifiers.opcode.text == "rcp";
    let ty = site.modifiers.ty(single_or_double)?;
    let has_approximation = ty == FloatType::F32 || is_rcp;
    let named = (has_approximation && site.modifiers.flag(".approx")).then_some(Precision::Approximate);
    let precision = precision(site, ty, named)?;
    let flushed = if ty == FloatType::F64 && precision == Precision::Approximate {
        site.modifiers.need(&[(".ftz", true)], "`.ftz` beside `.approx.f64`")?
    } else {
        ftz(site, ty)
    };
    let op = match is_rcp {
        true => UnaryOp::Reciprocal { ty, precision, ftz: flushed },
        false => UnaryOp::Sqrt { ty, precision, ftz: flushed },
    };
    unary(site, op, ty.scalar(), ty)
}

fn unary(site: &mut Site<'_, '_, '_, '_>, op: UnaryOp, to: ScalarType, ty: FloatType) -> Result<Operation, PtxError> {
    let [d, a] = site.take()?;
    let destination = site.destination(&d, to)?;
    Ok(Operation::Unary { op, destination, source: site.value(&a, ty.scalar())? })
}

fn sign(site: &mut Site<'_, '_, '_, '_>, op: fn(FloatType, bool) -> UnaryOp) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(|ty| FloatType::of(ty).filter(|ty| *ty != FloatType::F32x2))?;
    let ftz = ftz(site, ty);
    unary(site, op(ty, ftz), ty.scalar(), ty)
}

fn min_max(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let is_min = site.modifiers.opcode.text == "min";
    let ty = site.modifiers.ty(|ty| FloatType::of(ty).filter(|ty| *ty != FloatType::F32x2))?;
    let three = site.operands.len() == 4 && ty == FloatType::F32;
    let ftz = ftz(site, ty);
    let nan = ty != FloatType::F64 && site.modifiers.flag(".NaN");
    let xorsign = ty != FloatType::F64 && !three && site.modifiers.flag(".xorsign");
    let abs = (xorsign || three) && site.modifiers.flag(".abs");
    if xorsign && !abs {
        return Err(site.modifiers.missing("`.abs` beside `.xorsign`"));
    }
    let how = FloatMinMax { ty, ftz, nan, abs, xorsign };
    let ty = ty.scalar();
    if three {
        let [d, a, b, c] = site.take()?;
        let op = if is_min { TernaryOp::FloatMin3(how) } else { TernaryOp::FloatMax3(how) };
        let destination = site.destination(&d, ty)?;
        let (a, b, c) = (site.value(&a, ty)?, site.value(&b, ty)?, site.value(&c, ty)?);
        return Ok(Operation::Ternary { op, destination, a, b, c });
    }
    let [d, a, b] = site.take()?;
    let op = if is_min { BinaryOp::FloatMin(how) } else { BinaryOp::FloatMax(how) };
    let destination = site.destination(&d, ty)?;
    Ok(Operation::Binary { op, destination, a: site.value(&a, ty)?, b: site.value(&b, ty)? })
}

fn test(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let tests = [
        (".finite", FloatTest::Finite),
        (".infinite", FloatTest::Infinite),
        (".number", FloatTest::Number),
        (".notanumber", FloatTest::NotANumber),
        (".normal", FloatTest::Normal),
        (".subnormal", FloatTest::Subnormal),
    ];
    let test = site.modifiers.need(&tests, "a test such as `.finite`")?;
    let ty = site.modifiers.ty(single_or_double)?;
    unary(site, UnaryOp::Test { test, ty }, ScalarType::Pred, ty)
}

fn copy_sign(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let ty = site.modifiers.ty(single_or_double)?;
    let [d, a, b] = site.take()?;
    let destination = site.destination(&d, ty.scalar())?;
    let (a, b) = (site.value(&a, ty.scalar())?, site.value(&b, ty.scalar())?);
    Ok(Operation::Binary { op: BinaryOp::CopySign(ty), destination, a, b })
}

fn transcendental(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let (function, types): (_, &[FloatType]) = match site.modifiers.opcode.text {
        "rsqrt" => (Transcendental::ReciprocalSqrt, &[FloatType::F32, FloatType::F64]),
        "sin" => (Transcendental::Sin, &[FloatType::F32]),
        "cos" => (Transcendental::Cos, &[FloatType::F32]),
        "lg2" => (Transcendental::Log2, &[FloatType::F32]),
        "ex2" => (
            Transcendental::Exp2,
            &[FloatType::F32, FloatType::F16, FloatType::F16x2, FloatType::Bf16, FloatType::Bf16x2],
        ),
        _ => (
            Transcendental::Tanh,
            &[FloatType::F32, FloatType::F16, FloatType::F16x2, FloatType::Bf16, FloatType::Bf16x2],
        ),
    };
    let ty = site.modifiers.ty(|ty| FloatType::of(ty).filter(|ty| types.contains(ty)))?;
    site.modifiers.need(&[(".approx", ())], "`.approx`")?;
    let is_bf16 = ty.element() == FloatType::Bf16;
    let ftz = match function {
        Transcendental::Exp2 if is_bf16 => site.modifiers.need(&[(".ftz", true)], "`.ftz` beside `.bf16`")?,
        Transcendental::Exp2 if ty != FloatType::F32 => false,
        Transcendental::Tanh => false,
        _ => site.modifiers.flag(".ftz"),
    };
    unary(site, UnaryOp::Transcendental { function, ty, ftz }, ty.scalar(), ty)
}
