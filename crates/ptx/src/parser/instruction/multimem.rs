//! `multimem`: what reaches all memories behind a multicast address.

use super::super::fit::Fit;
use super::super::site::Site;
use super::atomic;
use super::memory::{elements, vector};
use crate::error::PtxError;
use crate::instruction::{
    AtomicOp, MultimemLoadReduce, MultimemReduce, MultimemStore, Operation, Order, Scope, StateSpace,
};
use crate::types::{FloatType, ScalarType, TypeClass};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let forms = [(".ld_reduce", load_reduce as fn(&mut Site<'_, '_, '_, '_>) -> _), (".st", store), (".red", reduce)];
    let form = site.modifiers.need(&forms, "`.ld_reduce`, `.st` or `.red`")?;
    form(site)
}

fn space(site: &mut Site<'_, '_, '_, '_>) -> Result<StateSpace, PtxError> {
    match site.modifiers.space() {
        space @ (StateSpace::Generic | StateSpace::Global) => Ok(space),
        _ => Err(site.modifiers.missing("the space `.global` or none")),
    }
}

/// An operation that memories are joined with, and a type that knows it.
fn joined(site: &mut Site<'_, '_, '_, '_>) -> Result<(AtomicOp, ScalarType), PtxError> {
    let op = atomic::operation(site)?;
    let ty = site.modifiers.ty(|ty| Some(ty).filter(|ty| has(*ty, op)))?;
    Ok((op, ty))
}

fn has(ty: ScalarType, op: AtomicOp) -> bool {
    let is_half = matches!(FloatType::of(ty).map(FloatType::element), Some(FloatType::F16 | FloatType::Bf16));
    let is_word = matches!(ty.bits(), 32 | 64);
    match op {
        AtomicOp::Add if ty.is_float() => is_half || matches!(ty, ScalarType::F32 | ScalarType::F64),
        AtomicOp::Min | AtomicOp::Max if ty.is_float() => is_half,
        AtomicOp::Add | AtomicOp::Min | AtomicOp::Max => {
            is_word && matches!(ty.class(), TypeClass::Signed | TypeClass::Unsigned)
        }
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => is_word && ty.class() == TypeClass::Bits,
        _ => false,
    }
}

fn load_reduce(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let space = space(site)?;
    let order = site.modifiers.order()?.unwrap_or(Order::Weak);
    let accumulate = site.modifiers.choose(&[(".acc::f32", ScalarType::F32), (".acc::f16", ScalarType::F16)]);
    let count = vector(site);
    let (op, ty) = joined(site)?;
    let [d, a] = site.take()?;
    let elements = elements(site, d, count)?;
    let destinations = elements.iter().map(|it| site.sink(it, ty, Fit::Exact)).collect::<Result<_, _>>()?;
    let address = site.address(&a, space)?;
    Ok(Operation::MultimemLoadReduce(MultimemLoadReduce { op, order, space, ty, accumulate, destinations, address }))
}

/// Whether elements of the type can be stored: halves and whole words of any sort.
fn stored(ty: ScalarType) -> bool {
    let is_word = matches!(ty.bits(), 32 | 64) && ty.is_fundamental();
    is_word || FloatType::of(ty).is_some_and(|ty| ty != FloatType::F32x2)
}

fn store(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let space = space(site)?;
    let order = site.modifiers.order()?.unwrap_or(Order::Weak);
    let count = vector(site);
    let ty = site.modifiers.ty(|ty| Some(ty).filter(|ty| stored(*ty)))?;
    let [a, b] = site.take()?;
    let address = site.address(&a, space)?;
    let elements = elements(site, b, count)?;
    let sources = elements.iter().map(|it| site.value(it, ty)).collect::<Result<_, _>>()?;
    Ok(Operation::MultimemStore(MultimemStore { order, space, ty, address, sources }))
}

fn reduce(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let space = space(site)?;
    let order = site.modifiers.order()?.unwrap_or(Order::Relaxed(Scope::Sys));
    let count = vector(site);
    let (op, ty) = joined(site)?;
    let [a, b] = site.take()?;
    let address = site.address(&a, space)?;
    let elements = elements(site, b, count)?;
    let sources = elements.iter().map(|it| site.value(it, ty)).collect::<Result<_, _>>()?;
    Ok(Operation::MultimemReduce(MultimemReduce { op, order, space, ty, address, sources }))
}
