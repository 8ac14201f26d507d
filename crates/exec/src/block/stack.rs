//! Threads of a block that parted, and where they meet again.

use peermap_ptx::analysis::BlockId;

use crate::block::frame::Frame;
use crate::block::mask::Mask;

/// Lanes that run together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// The basic block that they are about to run.
    pub(crate) block: BlockId,
    pub(crate) lanes: Mask,
    /// Where they wait for those that they parted from; `None` is the end.
    pub(crate) meeting: Option<BlockId>,
}

/// A group that runs later, with what scalars held when it parted from others.
struct Waiting {
    group: Group,
    scalars: Option<Vec<u64>>,
}

/// All lanes of a block: those that run, those that wait, those that have ended.
pub(crate) struct Stack {
    pub(crate) running: Group,
    waiting: Vec<Waiting>,
    alive: Mask,
}

impl Stack {
    pub(crate) fn new(lanes: usize) -> Self {
        let lanes = Mask::first(lanes);
        Self { running: Group { block: BlockId(0), lanes, meeting: None }, waiting: Vec::new(), alive: lanes }
    }

    /// Whether all lanes that have not ended run together.
    pub(crate) fn is_whole(&self) -> bool {
        self.running.lanes == self.alive
    }

    /// Sends the running lanes on; false if no lane is left.
    pub(crate) fn go(&mut self, next: Option<BlockId>, restored: &[u32], frame: &mut Frame) -> bool {
        match next {
            None => {
                self.alive = self.alive.and_not(&self.running.lanes);
                self.resume(restored, frame)
            }
            next if next == self.running.meeting => self.resume(restored, frame),
            Some(next) => {
                self.running.block = next;
                true
            }
        }
    }

    /// Sends the lanes of `taken` one way and the other running ones another, to meet again at `meeting`; false if no
    /// lane is left.
    pub(crate) fn part(
        &mut self,
        taken: (Mask, Option<BlockId>),
        other: Option<BlockId>,
        meeting: Option<BlockId>,
        restored: &[u32],
        frame: &mut Frame,
    ) -> bool {
        let (taken, first) = taken;
        let rest = self.running.lanes.and_not(&taken);
        if rest.is_empty() {
            return self.go(first, restored, frame);
        }
        if taken.is_empty() {
            return self.go(other, restored, frame);
        }
        if let Some(block) = meeting
            && meeting != self.running.meeting
        {
            // Groups that part over and over, as in a loop, wait for each other at one place.
            self.waiting.push(Waiting { group: Group { block, ..self.running }, scalars: None });
        }
        for (lanes, target) in [(rest, other), (taken, first)] {
            match target {
                None => self.alive = self.alive.and_not(&lanes),
                target if target == meeting => {}
                Some(block) => {
                    let scalars = restored.iter().map(|word| frame.scalar(*word)).collect();
                    self.waiting.push(Waiting { group: Group { block, lanes, meeting }, scalars: Some(scalars) });
                }
            }
        }
        self.resume(restored, frame)
    }

    fn resume(&mut self, restored: &[u32], frame: &mut Frame) -> bool {
        while let Some(Waiting { group, scalars }) = self.waiting.pop() {
            let lanes = group.lanes.and(&self.alive);
            if lanes.is_empty() {
                continue;
            }
            for (word, value) in restored.iter().zip(scalars.into_iter().flatten()) {
                frame.set_scalar(*word, value);
            }
            self.running = Group { lanes, ..group };
            return true;
        }
        false
    }
}
