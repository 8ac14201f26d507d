//! Which parameters an address is computed from.

use std::collections::{BTreeSet, HashMap};

use peermap_ptx::instruction::Load;
use peermap_ptx::{
    Address, AddressBase, Body, Entry, Instruction, MoveSource, Operation, RegisterId, ScalarType, Symbol,
};

use crate::compile::plan::is_parameter;

/// How many bytes a pointer has.
const POINTER: u32 = 8;

/// What a value is computed from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Origin {
    /// Where the parameters of eight bytes start that are in it.
    parameters: BTreeSet<u32>,
    /// It may be, or contain, an address that is no parameter: one that was read from memory, or that of a variable.
    other: bool,
}

impl Origin {
    fn other() -> Self {
        Self { other: true, ..Self::default() }
    }

    /// Adds what another value is computed from; whether that changes anything.
    fn join(&mut self, origin: &Self) -> bool {
        let before = (self.parameters.len(), self.other);
        self.parameters.extend(&origin.parameters);
        self.other |= origin.other;
        before != (self.parameters.len(), self.other)
    }
}

/// For each access to memory the parameters that its address is computed from, where it is computed from nothing else that
/// could be an address.
///
/// A register is taken to hold whatever any instruction puts there, so the answer errs towards more parameters.
pub(crate) struct Origins {
    of: HashMap<u32, Vec<u32>>,
    /// Where each parameter of the entry starts.
    starts: Vec<u32>,
}

impl Origins {
    pub(crate) fn of(entry: &Entry) -> Self {
        let registers = registers(entry);
        let accesses = entry.body.instructions.iter().zip(0..).filter_map(|(instruction, index)| {
            let AddressBase::Register(base) = reached(&instruction.operation)?.base else { return None };
            let origin = &registers[base.index()];
            (!origin.other && !origin.parameters.is_empty())
                .then(|| (index, origin.parameters.iter().copied().collect()))
        });
        Self { of: accesses.collect(), starts: entry.params.iter().map(|param| param.offset).collect() }
    }

    /// Each access with the places in the parameters that its address is computed from.
    pub(super) fn accesses(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.of.iter().map(|(instruction, parameters)| (*instruction, parameters.as_slice()))
    }

    /// The argument that a place in the parameters belongs to, counted from 0.
    pub(super) fn argument(&self, place: u32) -> usize {
        self.starts.partition_point(|start| *start <= place).saturating_sub(1)
    }
}

/// The address that an instruction accesses memory by.
fn reached(operation: &Operation) -> Option<Address> {
    match operation {
        Operation::Load(load) => Some(load.address),
        Operation::Store(store) => Some(store.address),
        Operation::Atomic(atomic) => Some(atomic.address),
        Operation::MultimemLoadReduce(load) => Some(load.address),
        Operation::MultimemStore(store) => Some(store.address),
        Operation::MultimemReduce(reduce) => Some(reduce.address),
        _ => None,
    }
}

/// What each register is computed from, in whatever order instructions run.
fn registers(entry: &Entry) -> Vec<Origin> {
    let Entry { body, .. } = entry;
    let mut registers = vec![Origin::default(); body.registers.len()];
    let mut changes = true;
    while changes {
        changes = false;
        for instruction in &body.instructions {
            for (register, origin) in written(entry, instruction, &registers) {
                changes |= registers[register.index()].join(&origin);
            }
        }
    }
    registers
}

/// What an instruction puts where.
fn written(entry: &Entry, instruction: &Instruction, registers: &[Origin]) -> Vec<(RegisterId, Origin)> {
    let operation = &instruction.operation;
    if let Operation::Load(load) = operation {
        return loaded(entry, load);
    }
    let wide = |register: &RegisterId| is_wide(&entry.body, *register);
    let mut origin = Origin::default();
    for register in operation.reads() {
        origin.join(&registers[register.index()]);
    }
    let made_elsewhere = match operation {
        Operation::Atomic(_) | Operation::MultimemLoadReduce(_) | Operation::Call(_) => true,
        Operation::Move { source: MoveSource::Symbol(..), .. } => true,
        Operation::MoveVector { sources, .. } => sources.iter().any(|it| matches!(it, MoveSource::Symbol(..))),
        // Halves that were read from memory one by one.
        Operation::Pack { .. } => origin == Origin::default(),
        _ => false,
    };
    let of = |register: RegisterId| {
        let origin = if made_elsewhere && wide(&register) { Origin::other() } else { origin.clone() };
        (register, origin)
    };
    instruction.writes().into_iter().map(of).collect()
}

/// What a load puts where. An element of fewer than eight bytes is no pointer.
fn loaded(entry: &Entry, load: &Load) -> Vec<(RegisterId, Origin)> {
    if load.ty.size() < POINTER {
        return Vec::new();
    }
    let start = parameter_start(entry, load);
    let origin = |index: u32| match start {
        Some(start) => Origin { parameters: BTreeSet::from([start + index * POINTER]), other: false },
        None => Origin::other(),
    };
    let targets = load.destinations.iter().zip(0..);
    targets.filter_map(|(register, index)| register.map(|register| (register, origin(index)))).collect()
}

/// Where in the parameters a load reads, if it reads a parameter at a fixed place.
fn parameter_start(entry: &Entry, load: &Load) -> Option<u32> {
    let AddressBase::Symbol(Symbol::Parameter(number)) = load.address.base else { return None };
    let param = entry.params.get(number as usize).filter(|_| is_parameter(load.address, load.space))?;
    u32::try_from(i64::from(param.offset) + load.address.offset).ok()
}

fn is_wide(body: &Body, register: RegisterId) -> bool {
    let ty = body.registers[register.index()].ty;
    ty != ScalarType::Pred && ty.size() >= POINTER
}
