//! Values of registers in memory.

use std::collections::{BTreeMap, BTreeSet};

use peermap_ptx::analysis::{ControlFlow, Liveness};
use peermap_ptx::instruction::{Comparison, TernaryOp};
use peermap_ptx::{
    Body, Function, Immediate, Instruction, LocalId, Operation, Parameter, RegisterId, ScalarType, Source,
};

use crate::compile::link::call::{load, store};
use crate::compile::link::{Linker, compared, untyped};

impl Linker<'_> {
    /// Stores a value of a type.
    pub(super) fn put_away(&mut self, instruction: &Instruction, ty: ScalarType, value: Source, local: LocalId) {
        let value = self.as_stored(instruction, ty, value);
        self.push_for(instruction, store((local, 0), in_memory(ty), value));
    }

    /// A value in a form that can be stored: a number for a predicate.
    pub(super) fn as_stored(&mut self, instruction: &Instruction, ty: ScalarType, value: Source) -> Source {
        if ty != ScalarType::Pred {
            return value;
        }
        let destination = self.new_register(in_memory(ty));
        let [a, b] = [1, 0].map(|bits| Source::Immediate(Immediate { ty: in_memory(ty), bits }));
        let op = TernaryOp::Select { bits: in_memory(ty).bits() };
        self.push_for(instruction, Operation::Ternary { op, destination, a, b, c: value });
        Source::Register(destination)
    }

    /// Loads a register with a value of a type that was stored.
    pub(super) fn fetch(
        &mut self,
        instruction: &Instruction,
        (register, ty): (RegisterId, ScalarType),
        local: LocalId,
    ) {
        if ty != ScalarType::Pred {
            self.push_for(instruction, load(register, in_memory(ty), (local, 0)));
            return;
        }
        let word = self.new_register(in_memory(ty));
        self.push_for(instruction, load(word, in_memory(ty), (local, 0)));
        let zero = Immediate { ty: ScalarType::U32, bits: 0 };
        self.push_for(instruction, compared(Comparison::NotEqual, register, Source::Register(word), zero));
    }
}

/// What a value of a type is stored as.
pub(super) fn in_memory(ty: ScalarType) -> ScalarType {
    if ty == ScalarType::Pred { ScalarType::B32 } else { untyped(ty.size()) }
}

/// The registers that a function reads or returns after each of its calls, by the number of the instruction.
pub(super) fn live_behind_calls(function: &Function, body: &Body) -> BTreeMap<usize, Vec<RegisterId>> {
    let returned = function.returns.iter().filter_map(|parameter| match parameter {
        Parameter::Register { register, .. } => Some(*register),
        Parameter::Memory(_) => None,
    });
    let returned: BTreeSet<_> = returned.collect();
    let flow = ControlFlow::of(body);
    let liveness = Liveness::of(body, &flow);
    let mut behind = BTreeMap::new();
    for block in flow.ids() {
        let mut live: BTreeSet<RegisterId> = liveness.live_out(block).iter().copied().collect();
        for index in flow.block(block).instructions.clone().rev() {
            let instruction = &body.instructions[index as usize];
            let written = instruction.writes();
            if matches!(instruction.operation, Operation::Call(_)) {
                let kept = live.union(&returned).copied().filter(|register| !written.contains(register));
                behind.insert(index as usize, kept.collect());
            }
            if instruction.guard.is_none() {
                live.retain(|register| !written.contains(register));
            }
            live.extend(instruction.reads());
        }
    }
    behind
}
