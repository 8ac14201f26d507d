//! Arguments and what is returned, as registers.
//!
//! A variable in `.param` whose pieces are always reached by the same offsets and sizes needs no memory: each piece is a
//! register, and what is known of its value stays known on the other side of a call.

use std::collections::{BTreeMap, HashMap};

use peermap_ptx::instruction::Conversion;
use peermap_ptx::{
    Address, AddressBase, Body, Instruction, InstructionId, LocalId, MoveSource, Operation, Register, RegisterId,
    ScalarType, Source, StateSpace, Symbol,
};

use super::untyped;

/// The pieces of a variable: where each starts and how many bytes it has.
type Pieces = BTreeMap<i64, u32>;

/// Replaces variables by registers.
pub(super) fn promote(body: &mut Body) {
    let registers = registers(body);
    if registers.is_empty() {
        return;
    }
    let old = std::mem::take(&mut body.instructions);
    let mut starts = Vec::with_capacity(old.len() + 1);
    for instruction in old {
        starts.push(InstructionId(body.instructions.len() as u32));
        match moves(&instruction, &registers, &body.registers) {
            None => body.instructions.push(instruction),
            Some(moves) => {
                let moved = |operation| Instruction { operation, ..instruction.clone() };
                body.instructions.extend(moves.into_iter().map(moved));
            }
        }
    }
    starts.push(InstructionId(body.instructions.len() as u32));
    for instruction in &mut body.instructions {
        if let Operation::Branch(branch) = &mut instruction.operation {
            branch.target = starts[branch.target.index()];
        }
    }
}

/// A register for each piece of each variable that needs no memory.
fn registers(body: &mut Body) -> HashMap<(LocalId, i64), RegisterId> {
    let mut known: HashMap<LocalId, Option<Pieces>> = HashMap::new();
    for instruction in &body.instructions {
        let local = |symbol: &Symbol| if let Symbol::Local(local) = symbol { Some(*local) } else { None };
        for local in instruction.operation.symbols().iter().filter_map(local) {
            let variable = &body.locals[local.index()];
            let fresh = || (variable.space == StateSpace::ParamFunction).then(Pieces::new);
            let pieces = known.entry(local).or_insert_with(fresh);
            let fits = match (&mut *pieces, reached(&instruction.operation)) {
                (Some(pieces), Some((address, ty, count))) => {
                    (0..count).all(|place| add(pieces, address.offset + place * i64::from(ty.size()), ty.size()))
                }
                _ => false,
            };
            if !fits {
                *pieces = None;
            }
        }
    }
    let mut registers = HashMap::new();
    let mut locals: Vec<(LocalId, Pieces)> =
        known.into_iter().filter_map(|(local, pieces)| Some((local, pieces?))).collect();
    locals.sort_unstable_by_key(|(local, _)| *local);
    for (local, pieces) in locals {
        for (offset, size) in pieces {
            registers.insert((local, offset), RegisterId(body.registers.len() as u32));
            let name = format!("{}+{offset}", body.locals[local.index()].name);
            let ty = if size == 1 { ScalarType::B16 } else { untyped(size) };
            body.registers.push(Register { name, ty });
        }
    }
    registers
}

/// The place, the type and the number of elements of a load or a store.
fn reached(operation: &Operation) -> Option<(Address, ScalarType, i64)> {
    let (address, ty, count) = match operation {
        Operation::Load(load) => (load.address, load.ty, load.destinations.len()),
        Operation::Store(store) => (store.address, store.ty, store.sources.len()),
        _ => return None,
    };
    (ty.size() <= 8).then_some((address, ty, count as i64))
}

/// Adds a piece; false if it is part of another.
fn add(pieces: &mut Pieces, start: i64, size: u32) -> bool {
    let before = pieces.range(..=start).next_back();
    let behind = pieces.range(start + 1..).next();
    let fits = match before {
        Some((at, known)) if *at == start => *known == size,
        Some((at, known)) => at + i64::from(*known) <= start,
        None => true,
    };
    if fits && behind.is_none_or(|(at, _)| start + i64::from(size) <= *at) {
        pieces.insert(start, size);
        return true;
    }
    false
}

/// The moves that a load or a store of registers is; `None` if it reaches memory.
fn moves(
    instruction: &Instruction,
    registers: &HashMap<(LocalId, i64), RegisterId>,
    known: &[Register],
) -> Option<Vec<Operation>> {
    let (address, ty, _) = reached(&instruction.operation)?;
    let AddressBase::Symbol(Symbol::Local(local)) = address.base else { return None };
    registers.get(&(local, address.offset))?;
    let register =
        |place: usize| registers.get(&(local, address.offset + place as i64 * i64::from(ty.size()))).copied();
    let mut moves = Vec::new();
    match &instruction.operation {
        Operation::Load(load) => {
            for (place, destination) in load.destinations.iter().enumerate() {
                let Some(destination) = *destination else { continue };
                let source = Source::Register(register(place)?);
                let is_wider = known[destination.index()].ty.bits() > ty.bits();
                moves.push(if ty.is_signed() && is_wider {
                    Operation::Convert { conversion: widening(ty), destination, a: source, b: None }
                } else {
                    Operation::Move { ty: untyped(ty.size()), destination, source: MoveSource::Value(source) }
                });
            }
        }
        Operation::Store(store) => {
            for (place, source) in store.sources.iter().enumerate() {
                let source = MoveSource::Value(*source);
                moves.push(Operation::Move { ty: untyped(ty.size()), destination: register(place)?, source });
            }
        }
        _ => return None,
    }
    Some(moves)
}

/// What fills up a wider register with the sign.
fn widening(ty: ScalarType) -> Conversion {
    let (rounding, integral, ftz) = (None, false, false);
    Conversion { to: ty, from: ty, rounding, integral, ftz, saturate: false, relu: false, satfinite: false }
}
