//! Runs of instructions that only compute.

use std::collections::BTreeSet;

use peermap_ptx::{Body, RegisterId};

use crate::compile::place::Places;

/// Instructions that become machine code together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segment {
    /// Those whose results are kept once.
    pub(crate) once: Vec<u32>,
    /// Those whose results are kept for each lane. All of them run after those above.
    pub(crate) lanes: Vec<u32>,
    /// The registers whose values are read later.
    pub(crate) stored: BTreeSet<RegisterId>,
    /// What the second half reads.
    read_by_lanes: BTreeSet<RegisterId>,
}

impl Segment {
    pub(crate) fn is_empty(&self) -> bool {
        self.once.is_empty() && self.lanes.is_empty()
    }

    /// Whether the order of the text allows an instruction in here: the second half must not miss the value of a
    /// register before this instruction writes it.
    pub(crate) fn admits(&self, body: &Body, places: &Places, index: u32) -> bool {
        let written = body.instructions[index as usize].writes();
        !written.iter().any(|register| places.is_scalar(*register) && self.read_by_lanes.contains(register))
    }

    pub(crate) fn push(&mut self, body: &Body, places: &Places, index: u32) {
        let instruction = &body.instructions[index as usize];
        if instruction.writes().iter().all(|register| places.is_scalar(*register)) {
            self.once.push(index);
        } else {
            self.read_by_lanes.extend(instruction.reads());
            self.lanes.push(index);
        }
    }

    /// Finds which results are read later: in the second half, or where `live` says so.
    pub(crate) fn keep(&mut self, body: &Body, live: &BTreeSet<RegisterId>) {
        let written = |index: &u32| body.instructions[*index as usize].writes();
        let once = self.once.iter().flat_map(written);
        let once = once.filter(|register| live.contains(register) || self.read_by_lanes.contains(register));
        let lanes = self.lanes.iter().flat_map(written).filter(|register| live.contains(register));
        self.stored = once.chain(lanes).collect();
    }

    /// The instructions of both halves in the order of the text.
    pub(crate) fn instructions(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.once.iter().chain(&self.lanes).copied().collect();
        all.sort_unstable();
        all
    }
}
