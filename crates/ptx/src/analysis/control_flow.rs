//! Basic blocks and the edges between them.

use std::ops::Range;

use crate::body::Body;
use crate::instruction::{Instruction, Operation};
use crate::operand::InstructionId;

/// A basic block: an index into [`ControlFlow::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The same number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn of(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// Instructions that run one after the other: only the first is a target, only the last decides what comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its instructions.
    pub instructions: Range<u32>,
    /// The blocks that may come next, each once: the target of a branch first, then what follows in the text.
    pub successors: Vec<BlockId>,
    /// The blocks that this may come after, each once.
    pub predecessors: Vec<BlockId>,
    /// Whether a thread may end here, or come back to its caller.
    pub leaves: bool,
}

/// The basic blocks of a body. The first is where it starts; a body without instructions has one without any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFlow {
    blocks: Vec<Block>,
    /// The block of each instruction.
    block_of: Vec<BlockId>,
}

impl ControlFlow {
    /// Splits a body into blocks.
    #[must_use]
    pub fn of(body: &Body) -> Self {
        let count = body.instructions.len();
        let mut starts = vec![false; count + 1];
        starts[0] = true;
        for (index, instruction) in body.instructions.iter().enumerate() {
            starts[index + 1] |= ends_block(instruction);
            targets(instruction).iter().for_each(|target| starts[target.index()] = true);
        }
        let firsts: Vec<usize> = (0..count.max(1)).filter(|index| starts[*index]).collect();
        let mut flow = Self { blocks: Vec::with_capacity(firsts.len()), block_of: Vec::with_capacity(count) };
        for (number, first) in firsts.iter().enumerate() {
            let end = firsts.get(number + 1).copied().unwrap_or(count);
            flow.block_of.resize(end, BlockId::of(number));
            let instructions = BlockId::of(*first).0..BlockId::of(end).0;
            flow.blocks.push(Block { instructions, successors: Vec::new(), predecessors: Vec::new(), leaves: false });
        }
        flow.connect(body);
        flow
    }

    fn connect(&mut self, body: &Body) {
        for number in 0..self.blocks.len() {
            let last = self.blocks[number].instructions.clone().next_back();
            let last = last.map(|last| &body.instructions[last as usize]);
            let falls_through = last.is_none_or(|last| last.guard.is_some() || !ends_block(last));
            let next = (number + 1 < self.blocks.len()).then(|| BlockId::of(number + 1));
            let branches = last.map_or(&[] as &[_], targets);
            let at_end = |target: &InstructionId| target.index() == self.block_of.len();
            let ends = last.is_some_and(ends_threads);
            self.blocks[number].leaves = ends || branches.iter().any(at_end) || falls_through && next.is_none();
            let mut successors: Vec<BlockId> =
                branches.iter().filter_map(|target| self.block_of.get(target.index()).copied()).collect();
            // A table may name a label many times.
            successors.sort_unstable();
            successors.dedup();
            if falls_through
                && let Some(next) = next
                && !successors.contains(&next)
            {
                successors.push(next);
            }
            for successor in &successors {
                self.blocks[successor.index()].predecessors.push(BlockId::of(number));
            }
            self.blocks[number].successors = successors;
        }
    }

    /// The blocks, in the order of the text.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block of this number.
    #[must_use]
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }

    /// The block that an instruction is in.
    #[must_use]
    pub fn block_of(&self, instruction: InstructionId) -> BlockId {
        self.block_of[instruction.index()]
    }

    /// The numbers of the blocks.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        (0..BlockId::of(self.blocks.len()).0).map(BlockId)
    }
}

fn targets(instruction: &Instruction) -> &[InstructionId] {
    match &instruction.operation {
        Operation::Branch(branch) => std::slice::from_ref(&branch.target),
        Operation::BranchTable(table) => &table.targets,
        _ => &[],
    }
}

/// Whether an instruction ends its block: without a guard it never goes on to the next.
fn ends_block(instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::Branch(_) | Operation::BranchTable(_)) || ends_threads(instruction)
}

/// Whether threads end at an instruction. Nobody lets them go on from a breakpoint.
fn ends_threads(instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::Return | Operation::Exit | Operation::Trap | Operation::Breakpoint)
}
