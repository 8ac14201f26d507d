//! Atomic operations.

use super::super::fit::Fit;
use super::super::modifiers::ORDERS;
use super::super::site::Site;
use super::super::syntax::Operand;
use super::memory::{elements, vector};
use crate::error::PtxError;
use crate::instruction::{Atomic, AtomicOp, AtomicValue, Operation, Order, Scope, StateSpace};
use crate::types::{FloatType, ScalarType, TypeClass};

/// The operations by name.
const OPERATIONS: [(&str, AtomicOp); 10] = [
    (".exch", AtomicOp::Exchange),
    (".cas", AtomicOp::CompareAndSwap),
    (".add", AtomicOp::Add),
    (".inc", AtomicOp::Increment),
    (".dec", AtomicOp::Decrement),
    (".min", AtomicOp::Min),
    (".max", AtomicOp::Max),
    (".and", AtomicOp::And),
    (".or", AtomicOp::Or),
    (".xor", AtomicOp::Xor),
];

/// The operation that a modifier names, `expected` in words.
pub(super) fn operation(site: &mut Site<'_, '_, '_, '_>) -> Result<AtomicOp, PtxError> {
    site.modifiers.need(&OPERATIONS, "an operation such as `.add`")
}

/// Whether elements of the type know the operation.
fn has(ty: ScalarType, op: AtomicOp, is_vector: bool) -> bool {
    let bits = ty.bits();
    let is_word = bits == 32 || bits == 64;
    let is_half = matches!(FloatType::of(ty).map(FloatType::element), Some(FloatType::F16 | FloatType::Bf16));
    match op {
        AtomicOp::Exchange => ty.class() == TypeClass::Bits && matches!(bits, 32 | 64 | 128),
        AtomicOp::CompareAndSwap => ty.class() == TypeClass::Bits && bits >= 16,
        AtomicOp::Add if ty.is_float() => is_half || matches!(ty, ScalarType::F32 | ScalarType::F64),
        AtomicOp::Add => matches!(ty, ScalarType::U32 | ScalarType::S32 | ScalarType::U64),
        AtomicOp::Increment | AtomicOp::Decrement => ty == ScalarType::U32,
        AtomicOp::Min | AtomicOp::Max if ty.is_float() => is_half && is_vector,
        AtomicOp::Min | AtomicOp::Max => is_word && matches!(ty.class(), TypeClass::Signed | TypeClass::Unsigned),
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => ty.class() == TypeClass::Bits && is_word,
    }
}

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let is_red = site.modifiers.opcode.text == "red";
    let hinted = site.modifiers.skip_cache_hints();
    let space = site.modifiers.space();
    if !matches!(space, StateSpace::Generic | StateSpace::Global | StateSpace::Shared | StateSpace::SharedCluster) {
        return Err(site.modifiers.missing("the space `.global` or `.shared`, or none"));
    }
    let (order, scope) = order(site, is_red)?;
    let op = operation(site)?;
    let count = vector(site);
    let noftz = site.modifiers.flag(".noftz");
    let ty = site.modifiers.ty(|ty| Some(ty).filter(|ty| has(*ty, op, count.is_some())))?;
    let needs_noftz = matches!(FloatType::of(ty).map(FloatType::element), Some(FloatType::F16 | FloatType::Bf16));
    if needs_noftz && !noftz && op == AtomicOp::Add {
        return Err(site.modifiers.missing("`.noftz` beside this type"));
    }
    let fixed = 3 + usize::from(op == AtomicOp::CompareAndSwap) - usize::from(is_red);
    if hinted && let Some(policy) = site.take_beyond(fixed) {
        site.value(&policy, ScalarType::B64)?;
    }
    let (d, address, operand, swap) = operands(site, op, is_red)?;
    let address = site.address(&address, space)?;
    let destinations = match d {
        Some(d) => elements(site, d, count)?.into_iter().map(Some).collect(),
        None => vec![None; count.unwrap_or(1)],
    };
    let sources = elements(site, operand, count)?;
    let mut values = Vec::with_capacity(sources.len());
    for (d, operand) in destinations.iter().zip(&sources) {
        let destination = d.as_ref().map_or(Ok(None), |d| site.sink(d, ty, Fit::Exact))?;
        let operand = site.value(operand, ty)?;
        let swap = swap.as_ref().map(|swap| site.value(swap, ty)).transpose()?;
        values.push(AtomicValue { destination, operand, swap });
    }
    Ok(Operation::Atomic(Atomic { op, order, scope, space, ty, noftz, address, values }))
}

/// The order and the scope; without any, relaxed on the device.
fn order(site: &mut Site<'_, '_, '_, '_>, is_red: bool) -> Result<(Order, Scope), PtxError> {
    site.modifiers.refuse(&[".weak", ".volatile", ".mmio"])?;
    if is_red {
        site.modifiers.refuse(&[".acquire", ".acq_rel"])?;
    }
    let order = site.modifiers.choose(&ORDERS).unwrap_or(Order::Relaxed);
    let scope = site.modifiers.scope().unwrap_or(Scope::Gpu);
    Ok((order(scope), scope))
}

/// Destination, address, operand and, for `.cas`, what is written.
type Operands<'a> = (Option<Operand<'a>>, Operand<'a>, Operand<'a>, Option<Operand<'a>>);

fn operands<'a>(site: &mut Site<'_, '_, '_, 'a>, op: AtomicOp, is_red: bool) -> Result<Operands<'a>, PtxError> {
    if is_red {
        if matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) {
            return Err(site.modifiers.missing("an operation such as `.add`"));
        }
        let [address, operand] = site.take()?;
        return Ok((None, address, operand, None));
    }
    if op == AtomicOp::CompareAndSwap {
        let [d, address, operand, swap] = site.take()?;
        return Ok((Some(d), address, operand, Some(swap)));
    }
    let [d, address, operand] = site.take()?;
    Ok((Some(d), address, operand, None))
}
