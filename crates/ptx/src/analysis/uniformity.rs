//! Which values all threads of a block share, and which grow from thread to thread.

use super::control_flow::{BlockId, ControlFlow};
use super::divergence::Divergence;
use super::liveness::Liveness;
use super::shape::{BlockShape, Shape, Value};
use super::transfer::{Transfer, decides};
use crate::body::Body;
use crate::operand::{InstructionId, RegisterId};

/// The shape of each register, wherever it is read, and the branches at which threads may part.
///
/// It holds for threads that run in step: those that part at a branch meet at its immediate
/// [post-dominator](super::Dominators::post) or later, and a load from one address is one access for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniformity {
    shapes: Vec<Shape>,
    divergent: Vec<BlockId>,
    assumed: Vec<InstructionId>,
}

impl Uniformity {
    /// Finds the shapes of a body, for a block of the given shape.
    #[must_use]
    pub fn of(body: &Body, flow: &ControlFlow, liveness: &Liveness, block: BlockShape) -> Self {
        let mut solver = Solver::new(body, block);
        let mut divergence = Divergence::new(body, flow, liveness);
        let mut open: Vec<BlockId> = flow.ids().filter(|block| flow.block(*block).successors.len() > 1).collect();
        let mut divergent = Vec::new();
        loop {
            solver.settle();
            let (parts, stays): (Vec<_>, Vec<_>) = open.into_iter().partition(|block| solver.parts(flow, *block));
            open = stays;
            if parts.is_empty() {
                break;
            }
            for branch in &parts {
                match divergence.spoils(*branch) {
                    Some(registers) => registers.into_iter().for_each(|register| solver.spoil(register)),
                    None => (0..body.registers.len()).for_each(|index| solver.spoil_index(index)),
                }
            }
            divergent.extend(parts);
        }
        divergent.sort_unstable();
        let shapes = solver.values.iter().map(|value| value.shape()).collect();
        Self { shapes, divergent, assumed: solver.assumed() }
    }

    /// How the values of a register go together.
    #[must_use]
    pub fn shape(&self, register: RegisterId) -> Shape {
        self.shapes[register.index()]
    }

    /// The blocks at whose end threads may part, in order.
    #[must_use]
    pub fn divergent(&self) -> &[BlockId] {
        &self.divergent
    }

    /// The instructions, in order, that make a wider value of an affine one and are affine only as long as that does
    /// not wrap around between two threads. Who relies on their shape looks at the values of the first and the last
    /// thread there.
    #[must_use]
    pub fn assumed(&self) -> &[InstructionId] {
        &self.assumed
    }
}

struct Solver<'b> {
    body: &'b Body,
    block: BlockShape,
    values: Vec<Value>,
    /// The instructions that read each register.
    readers: Vec<Vec<u32>>,
    /// The instructions whose results are to be looked at again.
    open: Vec<u32>,
    is_open: Vec<bool>,
}

impl<'b> Solver<'b> {
    fn new(body: &'b Body, block: BlockShape) -> Self {
        let count = u32::try_from(body.instructions.len()).unwrap_or(u32::MAX);
        let mut readers = vec![Vec::new(); body.registers.len()];
        for (number, instruction) in (0..count).zip(&body.instructions) {
            instruction.reads().into_iter().for_each(|register| readers[register.index()].push(number));
        }
        let mut values = vec![Value::Undefined; body.registers.len()];
        // What is read before it is written, and given by no caller, is nothing at all.
        body.given.iter().for_each(|register| values[register.index()] = Value::Varying);
        let is_open = vec![true; body.instructions.len()];
        Self { body, block, values, readers, open: (0..count).rev().collect(), is_open }
    }

    /// Goes on until no value changes.
    fn settle(&mut self) {
        while let Some(number) = self.open.pop() {
            self.is_open[number as usize] = false;
            let instruction = &self.body.instructions[number as usize];
            let result = self.transfer().result(instruction);
            for register in instruction.writes() {
                self.update(register, result);
            }
        }
    }

    fn transfer(&self) -> Transfer<'_> {
        Transfer { registers: &self.body.registers, values: &self.values, block: self.block, assumed: false }
    }

    fn update(&mut self, register: RegisterId, value: Value) {
        let before = self.values[register.index()];
        let after = before.join(value);
        if after != before {
            self.values[register.index()] = after;
            for reader in &self.readers[register.index()] {
                if !std::mem::replace(&mut self.is_open[*reader as usize], true) {
                    self.open.push(*reader);
                }
            }
        }
    }

    fn spoil(&mut self, register: RegisterId) {
        self.update(register, Value::Varying);
    }

    fn spoil_index(&mut self, index: usize) {
        self.spoil(RegisterId(u32::try_from(index).unwrap_or(u32::MAX)));
    }

    /// Whether threads may part at the end of a block.
    fn parts(&self, flow: &ControlFlow, block: BlockId) -> bool {
        let last = flow.block(block).instructions.clone().next_back();
        let decided = last.map_or_else(Vec::new, |last| decides(&self.body.instructions[last as usize]));
        decided.iter().any(|register| !self.values[register.index()].is_uniform())
    }

    fn assumed(&self) -> Vec<InstructionId> {
        let count = u32::try_from(self.body.instructions.len()).unwrap_or(u32::MAX);
        let mut transfer = self.transfer();
        let is_affine = |number: &u32| {
            let instruction = &self.body.instructions[*number as usize];
            transfer.result(instruction);
            let written = instruction.writes();
            let kept = |register: &RegisterId| matches!(self.values[register.index()].shape(), Shape::Affine { .. });
            transfer.assumed && written.iter().any(kept)
        };
        (0..count).filter(is_affine).map(InstructionId).collect()
    }
}
