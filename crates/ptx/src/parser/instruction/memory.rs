//! Loads, stores and what is said to caches.

use super::super::fit::Fit;
use super::super::site::Site;
use super::super::syntax::{Form, Operand};
use crate::error::{PtxError, PtxProblem};
use crate::instruction::{CacheHint, CacheHintKind, CacheOperator, Load, Operation, Order, StateSpace, Store};
use crate::operand::{Address, AddressBase, RegisterId, Source, Symbol};
use crate::types::{FloatType, ScalarType};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "ld" | "ldu" => load(site),
        "st" => store(site),
        "createpolicy" => create_policy(site),
        _ => hint(site),
    }
}

/// The types that lie in memory: halves only as bits.
fn stored(ty: ScalarType) -> Option<ScalarType> {
    let is_float = matches!(ty, ScalarType::F32 | ScalarType::F64);
    Some(ty).filter(|ty| ty.is_fundamental() && (is_float || FloatType::of(*ty).is_none()))
}

/// The types that lie in memory in vectors of so many: 256 bits at most, and none of 128.
fn stored_in(count: Option<usize>) -> impl Fn(ScalarType) -> Option<ScalarType> {
    const MOST_BYTES: usize = 32;
    let fits = move |ty: &ScalarType| {
        count.is_none_or(|count| *ty != ScalarType::B128 && count * ty.size() as usize <= MOST_BYTES)
    };
    move |ty| stored(ty).filter(|ty| fits(ty))
}

/// The number of elements that a modifier says.
pub(super) fn vector(site: &mut Site<'_, '_, '_, '_>) -> Option<usize> {
    site.modifiers.choose(&[(".v2", 2), (".v4", 4), (".v8", 8)])
}

/// The elements of an operand, as many as the modifier says.
pub(super) fn elements<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    operand: Operand<'a>,
    count: Option<usize>,
) -> Result<Vec<Operand<'a>>, PtxError> {
    let Some(count) = count else {
        return match operand.form {
            Form::Vector(_) => site.unexpected(&operand, "a register: there is no `.v2` or `.v4`"),
            _ => Ok(vec![operand]),
        };
    };
    let place = operand.clone();
    let elements = site.elements(operand);
    if elements.len() == count {
        Ok(elements)
    } else {
        site.unexpected(&place, "a vector of as many elements as the modifier says")
    }
}

/// Whether the registers among the elements of a vector are of one width.
fn check_widths<'a>(
    site: &Site<'_, '_, '_, 'a>,
    elements: &[Operand<'a>],
    registers: impl Iterator<Item = Option<RegisterId>>,
) -> Result<(), PtxError> {
    let mut first = None;
    for (element, register) in elements.iter().zip(registers) {
        let width = register.map(|register| site.register_type(register).bits());
        first = first.or(width);
        if width.is_some() && width != first {
            return site.unexpected(element, "a register as wide as those before it in the vector");
        }
    }
    Ok(())
}

fn cache(site: &mut Site<'_, '_, '_, '_>, is_load: bool) -> CacheOperator {
    let loads = [
        (".ca", CacheOperator::All),
        (".cg", CacheOperator::Global),
        (".cs", CacheOperator::Streaming),
        (".lu", CacheOperator::LastUse),
        (".cv", CacheOperator::Volatile),
    ];
    let stores = [
        (".wb", CacheOperator::WriteBack),
        (".cg", CacheOperator::Global),
        (".cs", CacheOperator::Streaming),
        (".wt", CacheOperator::WriteThrough),
    ];
    site.modifiers.choose(if is_load { &loads } else { &stores }).unwrap_or_default()
}

/// The space, in which `.param` is settled by what is named: a parameter of an entry or anything of a function.
fn space(site: &mut Site<'_, '_, '_, '_>) -> Option<StateSpace> {
    if site.modifiers.flag(".param") { None } else { Some(site.modifiers.space()) }
}

fn settle(site: &Site<'_, '_, '_, '_>, space: Option<StateSpace>, address: Address) -> StateSpace {
    let is_local = matches!(address.base, AddressBase::Symbol(Symbol::Local(_) | Symbol::Returned(_)));
    let of_param = if is_local || site.names.in_function { StateSpace::ParamFunction } else { StateSpace::ParamEntry };
    space.unwrap_or(of_param)
}

/// What of an order does not go with a space: only memory that others see has one.
fn check_order(site: &Site<'_, '_, '_, '_>, order: Order, space: Option<StateSpace>) -> Result<(), PtxError> {
    let space = match space {
        Some(StateSpace::Local) => ".local",
        Some(StateSpace::Const) => ".const",
        Some(StateSpace::Shared | StateSpace::SharedCluster) => ".shared",
        None | Some(StateSpace::ParamEntry | StateSpace::ParamFunction) => ".param",
        Some(StateSpace::Global | StateSpace::Generic) => return Ok(()),
    };
    let modifiers: &[&'static str] = match order {
        Order::Mmio if space == ".shared" => &[".mmio"],
        Order::Mmio => &[".relaxed", ".mmio"],
        _ if space == ".shared" => &[],
        Order::Weak => &[],
        Order::Volatile => &[".volatile"],
        Order::Relaxed(_) => &[".relaxed"],
        Order::Acquire(_) => &[".acquire"],
        Order::Release(_) => &[".release"],
        Order::AcquireRelease(_) => &[".acq_rel"],
    };
    match modifiers {
        [] => Ok(()),
        _ => site.error(site.modifiers.at(), PtxProblem::OrderOfSpace { modifiers: modifiers.to_vec(), space }),
    }
}

fn load(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let is_uniform = site.modifiers.opcode.text == "ldu";
    site.skip_cache_policy(2)?;
    let space = space(site);
    let read_only = site.modifiers.flag(".nc") || is_uniform;
    let order = site.modifiers.order()?.unwrap_or(Order::Weak);
    if matches!(order, Order::Release(_) | Order::AcquireRelease(_)) {
        return Err(site.modifiers.missing("another order than a release"));
    }
    check_order(site, order, space)?;
    let cache = cache(site, true);
    site.modifiers.flag(".unified");
    let count = vector(site);
    let ty = site.modifiers.ty(stored_in(count))?;
    let [d, a] = site.take()?;
    let elements = elements(site, d, count)?;
    let destinations = elements.iter().map(|it| site.sink(it, ty, Fit::Wider)).collect::<Result<Vec<_>, _>>()?;
    check_widths(site, &elements, destinations.iter().copied())?;
    let address = site.address(&a, space.unwrap_or(StateSpace::ParamEntry))?;
    let space = settle(site, space, address);
    Ok(Operation::Load(Load { space, order, read_only, cache, ty, destinations, address }))
}

fn store(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    site.skip_cache_policy(2)?;
    let space = space(site);
    let order = site.modifiers.order()?.unwrap_or(Order::Weak);
    if matches!(order, Order::Acquire(_) | Order::AcquireRelease(_)) {
        return Err(site.modifiers.missing("another order than an acquire"));
    }
    check_order(site, order, space)?;
    let cache = cache(site, false);
    let count = vector(site);
    let ty = site.modifiers.ty(stored_in(count))?;
    let [a, b] = site.take()?;
    let address = site.address(&a, space.unwrap_or(StateSpace::ParamEntry))?;
    let space = settle(site, space, address);
    let is_given = matches!(address.base, AddressBase::Symbol(Symbol::Parameter(_)));
    if is_given || space == StateSpace::Const {
        return site.unexpected(&a, "an address that can be written");
    }
    let elements = elements(site, b, count)?;
    let sources = elements.iter().map(|it| site.source(it, ty, Fit::Wider)).collect::<Result<Vec<_>, _>>()?;
    let register = |source: &Source| if let Source::Register(register) = source { Some(*register) } else { None };
    check_widths(site, &elements, sources.iter().map(register))?;
    Ok(Operation::Store(Store { space, order, cache, ty, address, sources }))
}

fn hint(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let (kind, sized) = match site.modifiers.opcode.text {
        "applypriority" => (CacheHintKind::ApplyPriority, true),
        "discard" => (CacheHintKind::Discard, true),
        _ => (CacheHintKind::Prefetch, false),
    };
    let has_priority = site.modifiers.has(".L2::evict_last") || site.modifiers.has(".L2::evict_normal");
    site.modifiers.skip_cache_hints();
    let levels = [(".L1", ()), (".L2", ())];
    if kind != CacheHintKind::ApplyPriority && !has_priority {
        site.modifiers.need(&levels, "a level such as `.L2`")?;
    }
    let space = site.modifiers.space();
    let bytes = if sized { site.take_beyond(1) } else { None };
    let bytes = bytes.map_or(Ok(0), |bytes| site.integer(&bytes))?;
    let [a] = site.take()?;
    let address = site.address(&a, space)?;
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Ok(Operation::CacheHint(CacheHint { kind, space, address, bytes }))
}

/// `createpolicy`: what it says concerns caches, so its operands are checked and its modifiers are not looked into.
fn create_policy(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    site.modifiers.skip_cache_hints();
    let is_range = site.modifiers.flag(".range");
    let is_known = is_range || site.modifiers.flag(".fractional") || site.modifiers.flag(".cvt");
    if !is_known {
        return Err(site.modifiers.missing("`.range`, `.fractional` or `.cvt`"));
    }
    while site.modifiers.flag(".global") || site.modifiers.flag(".L2") {}
    site.modifiers.ty(|ty| Some(ty).filter(|ty| *ty == ScalarType::B64))?;
    let mut operands = std::mem::take(&mut site.operands).into_iter();
    let Some(d) = operands.next() else { return Err(site.modifiers.missing("a destination")) };
    let destination = site.destination(&d, ScalarType::B64)?;
    let mut sources = Vec::new();
    for operand in operands {
        match operand.form {
            Form::Address(_) => drop(site.address(&operand, StateSpace::Global)?),
            Form::Name(_) => {
                let register = site.any_register(&operand)?;
                sources.push(Source::Register(register));
            }
            _ => {}
        }
    }
    Ok(Operation::CreatePolicy { destination, sources })
}
