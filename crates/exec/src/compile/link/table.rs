//! Branch tables, as comparisons that halve what is left.

use std::ops::Range;

use peermap_ptx::instruction::{BranchTable, Comparison};
use peermap_ptx::{Guard, Immediate, Instruction, InstructionId, ScalarType, Source};

use super::{Linker, compared};

impl Linker<'_> {
    /// Puts in a `brx.idx` with its index renamed. Branches to its targets are added to `open`.
    pub(super) fn table(&mut self, instruction: &Instruction, table: &BranchTable, open: &mut Vec<usize>) {
        let skip = self.skip_unless_guarded(instruction);
        self.half(instruction, table, 0..table.targets.len(), open);
        skip.into_iter().for_each(|branch| self.land(branch));
    }

    /// Goes to the target of an index in `range`; past the end of the table nothing is defined.
    fn half(&mut self, instruction: &Instruction, table: &BranchTable, range: Range<usize>, open: &mut Vec<usize>) {
        let targets = &table.targets[range.clone()];
        let Some(first) = targets.first() else { return };
        if targets.iter().all(|target| target == first) {
            open.push(self.push_branch(instruction, None, *first));
            return;
        }
        let middle = range.start.midpoint(range.end);
        let is_below = self.new_register(ScalarType::Pred);
        let b = Immediate { ty: ScalarType::U32, bits: middle as u64 };
        self.push_for(instruction, compared(Comparison::Less, is_below, Source::Register(table.index), b));
        let guard = Guard { predicate: is_below, negated: false };
        let below = self.push_branch(instruction, Some(guard), InstructionId(0));
        self.half(instruction, table, middle..range.end, open);
        self.land(below);
        self.half(instruction, table, range.start..middle, open);
    }
}
