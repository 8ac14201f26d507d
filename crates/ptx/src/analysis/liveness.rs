//! Which registers are read later.

use std::collections::BTreeSet;

use super::control_flow::{BlockId, ControlFlow};
use crate::body::Body;
use crate::instruction::Instruction;
use crate::operand::RegisterId;

/// The registers that are live where blocks start and end: those that some path reads before it writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    live_in: Vec<Vec<RegisterId>>,
    live_out: Vec<Vec<RegisterId>>,
}

/// What a block does with registers, before anything is known about others.
struct Summary {
    /// Read before they are written.
    read_first: Vec<RegisterId>,
    /// Written in any case, sorted.
    written: Vec<RegisterId>,
}

impl Liveness {
    /// Finds them. The work is in proportion to what is found: each register is followed from where it is read back to
    /// where it is written.
    #[must_use]
    pub fn of(body: &Body, flow: &ControlFlow) -> Self {
        let summaries: Vec<Summary> = flow.ids().map(|block| summary(body, flow, block)).collect();
        let mut readers: Vec<Vec<BlockId>> = vec![Vec::new(); body.registers.len()];
        for (block, summary) in flow.ids().zip(&summaries) {
            summary.read_first.iter().for_each(|register| readers[register.index()].push(block));
        }
        let empty = vec![Vec::new(); flow.blocks().len()];
        let mut liveness = Self { live_in: empty.clone(), live_out: empty };
        for (index, blocks) in readers.into_iter().enumerate() {
            liveness.follow(RegisterId(u32::try_from(index).unwrap_or(u32::MAX)), blocks, flow, &summaries);
        }
        liveness
    }

    /// Marks a register from the blocks that read it backwards. Registers come in order, so the lists stay sorted.
    fn follow(&mut self, register: RegisterId, mut open: Vec<BlockId>, flow: &ControlFlow, summaries: &[Summary]) {
        while let Some(block) = open.pop() {
            if self.live_in[block.index()].last() == Some(&register) {
                continue;
            }
            self.live_in[block.index()].push(register);
            for before in &flow.block(block).predecessors {
                if self.live_out[before.index()].last() != Some(&register) {
                    self.live_out[before.index()].push(register);
                    if summaries[before.index()].written.binary_search(&register).is_err() {
                        open.push(*before);
                    }
                }
            }
        }
    }

    /// The registers that are live where a block starts, sorted.
    #[must_use]
    pub fn live_in(&self, block: BlockId) -> &[RegisterId] {
        &self.live_in[block.index()]
    }

    /// The registers that are live where a block ends, sorted.
    #[must_use]
    pub fn live_out(&self, block: BlockId) -> &[RegisterId] {
        &self.live_out[block.index()]
    }

    /// Whether a register is live where a block starts.
    #[must_use]
    pub fn is_live_in(&self, block: BlockId, register: RegisterId) -> bool {
        self.live_in(block).binary_search(&register).is_ok()
    }
}

/// The registers that an instruction writes whatever its guard is.
pub(super) fn surely_written(instruction: &Instruction) -> Vec<RegisterId> {
    if instruction.guard.is_none() { instruction.writes() } else { Vec::new() }
}

fn summary(body: &Body, flow: &ControlFlow, block: BlockId) -> Summary {
    let mut read_first = BTreeSet::new();
    let mut written = BTreeSet::new();
    for index in flow.block(block).instructions.clone().rev() {
        let instruction = &body.instructions[index as usize];
        for register in surely_written(instruction) {
            read_first.remove(&register);
            written.insert(register);
        }
        read_first.extend(instruction.reads());
    }
    Summary { read_first: read_first.into_iter().collect(), written: written.into_iter().collect() }
}
