//! What parting ways does to registers.
//!
//! Where threads part and meet again, a register that was written on the way may differ, even if every write gave all
//! threads that ran it the same. The same holds for what a loop leaves behind that threads leave at different times.

use std::collections::HashSet;

use super::control_flow::{BlockId, ControlFlow};
use super::cycles::on_cycle;
use super::dominators::Dominators;
use super::liveness::Liveness;
use crate::body::Body;
use crate::operand::RegisterId;

/// How much may be looked at in one body. Beyond, every register counts as varying.
const MOST_WORK: usize = 1 << 24;

/// Looks at one branch after the other.
pub(super) struct Divergence<'f> {
    flow: &'f ControlFlow,
    liveness: &'f Liveness,
    post: Dominators,
    /// The registers that each block writes.
    written: Vec<Vec<RegisterId>>,
    /// Registers with one place where they are written, which runs once: whoever reads them read the same.
    written_once: Vec<bool>,
    work: usize,
}

/// By which way a block was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    Not,
    By(usize),
    ByMany,
}

impl<'f> Divergence<'f> {
    pub(super) fn new(body: &Body, flow: &'f ControlFlow, liveness: &'f Liveness) -> Self {
        let edges: Vec<Vec<usize>> =
            flow.blocks().iter().map(|block| block.successors.iter().map(|it| it.index()).collect()).collect();
        let repeats = on_cycle(&edges);
        let mut places = vec![0_u32; body.registers.len()];
        let mut written = Vec::with_capacity(edges.len());
        for block in flow.ids() {
            let instructions = flow.block(block).instructions.clone().map(|index| &body.instructions[index as usize]);
            let writes: Vec<RegisterId> = instructions.flat_map(|instruction| instruction.writes()).collect();
            let weight = if repeats[block.index()] { 2 } else { 1 };
            writes.iter().for_each(|register| places[register.index()] += weight);
            written.push(writes);
        }
        let written_once = places.iter().map(|places| *places <= 1).collect();
        Self { flow, liveness, post: Dominators::post(flow), written, written_once, work: 0 }
    }

    /// The registers that vary because threads part at the end of `branch`; `None` if that was too much to find out.
    pub(super) fn spoils(&mut self, branch: BlockId) -> Option<Vec<RegisterId>> {
        self.work += self.flow.blocks().len();
        if self.work > MOST_WORK {
            return None;
        }
        let meeting = self.post.immediate(branch);
        let (reached, region) = self.region(branch, meeting);
        let mut spoilt = Vec::new();
        let mut is_written: HashSet<RegisterId> = HashSet::new();
        for block in &region {
            self.work += 1 + self.written[block.index()].len();
            is_written.extend(&self.written[block.index()]);
        }
        let late = self.left_at_different_times(branch, &reached, &region);
        let joins = region.iter().copied().filter(|block| reached[block.index()] == Reached::ByMany);
        for join in joins.chain(late).chain(meeting) {
            let live = self.liveness.live_in(join);
            self.work += live.len();
            let differs =
                |register: &&RegisterId| is_written.contains(*register) && !self.written_once[register.index()];
            spoilt.extend(live.iter().filter(differs));
        }
        Some(spoilt)
    }

    /// The blocks between a branch and where its threads meet.
    fn region(&self, branch: BlockId, meeting: Option<BlockId>) -> (Vec<Reached>, Vec<BlockId>) {
        let mut reached = vec![Reached::Not; self.flow.blocks().len()];
        let mut region = Vec::new();
        for (way, first) in self.flow.block(branch).successors.iter().enumerate() {
            let mut open = vec![*first];
            while let Some(block) = open.pop() {
                let state = reached[block.index()];
                if Some(block) == meeting || state == Reached::By(way) || state == Reached::ByMany {
                    continue;
                }
                if state == Reached::Not {
                    region.push(block);
                }
                reached[block.index()] = if state == Reached::Not { Reached::By(way) } else { Reached::ByMany };
                if block != branch {
                    open.extend(&self.flow.block(block).successors);
                }
            }
        }
        (reached, region)
    }

    /// If the branch is in a loop that it may leave: the blocks of its region from which there is no way back to it.
    fn left_at_different_times(&self, branch: BlockId, reached: &[Reached], region: &[BlockId]) -> Vec<BlockId> {
        if reached[branch.index()] == Reached::Not {
            return Vec::new();
        }
        let mut comes_back = vec![false; reached.len()];
        let mut open = vec![branch];
        while let Some(block) = open.pop() {
            if reached[block.index()] != Reached::Not && !std::mem::replace(&mut comes_back[block.index()], true) {
                open.extend(&self.flow.block(block).predecessors);
            }
        }
        region.iter().copied().filter(|block| !comes_back[block.index()]).collect()
    }
}
