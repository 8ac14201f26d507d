//! Which writes are known to come before others.

use std::collections::HashMap;

use crate::block::mask::Mask;
use crate::check::history::LaunchId;

/// When something happened; later is more.
pub(super) type Time = u64;

/// A block: the launch and its number there.
pub(super) type BlockId = (LaunchId, u64);

/// What the threads of a block did to order their writes with others.
#[derive(Debug)]
struct Steps {
    /// When threads of the block last went on from waiting for each other.
    synchronised: Time,
    /// When one last did something that orders it with other blocks: an atomic operation, a fence, an access with an order.
    ordered: Time,
    /// When one last did `fence.proxy.alias`.
    alias_fence: Time,
    /// Those that came to where threads wait and have done nothing with memory since.
    waited: Mask,
}

/// The order of what launches do. Blocks of a launch run on one core, so one thing comes after the other.
///
/// Two writes count as ordered as soon as there was something between them by which a correct program could order them,
/// whoever did it: a block's threads by a barrier of any of them, blocks if both did something that orders. What is said
/// to be unordered therefore is.
#[derive(Debug, Default)]
pub(super) struct Order {
    now: Time,
    blocks: HashMap<BlockId, Steps>,
}

impl Order {
    /// The time of what happens now, later than that of all before.
    pub(super) fn tick(&mut self) -> Time {
        self.now += 1;
        self.now
    }

    fn steps(&mut self, block: BlockId) -> &mut Steps {
        let never = || Steps { synchronised: 0, ordered: 0, alias_fence: 0, waited: Mask::NONE };
        self.blocks.entry(block).or_insert_with(never)
    }

    /// Threads come to where they wait for others of their block.
    pub(super) fn wait(&mut self, block: BlockId, lanes: &Mask) {
        let steps = self.steps(block);
        steps.waited = steps.waited.or(lanes);
    }

    /// Threads do something with memory: those that waited do so no more.
    pub(super) fn go_on(&mut self, block: BlockId, lanes: &Mask) {
        let time = self.now + 1;
        let steps = self.steps(block);
        if !steps.waited.and(lanes).is_empty() {
            steps.waited = steps.waited.and_not(lanes);
            steps.synchronised = time;
            self.now = time;
        }
    }

    /// A thread lets others of its block know how far it is, and does not wait.
    pub(super) fn arrive(&mut self, block: BlockId) {
        self.steps(block).synchronised = self.tick();
    }

    /// A thread does something that can order it with other blocks.
    pub(super) fn order(&mut self, block: BlockId) {
        self.steps(block).ordered = self.tick();
    }

    /// A thread does `fence.proxy.alias`.
    pub(super) fn fence_aliases(&mut self, block: BlockId) {
        self.steps(block).alias_fence = self.tick();
    }

    /// Whether what one block did at a time may be known to another, or the same, by now.
    pub(super) fn may_know(&mut self, writer: BlockId, time: Time, other: BlockId) -> bool {
        let ordered = self.steps(writer).ordered > time && self.steps(other).ordered > time;
        ordered || writer == other && self.steps(writer).synchronised > time
    }

    /// Whether one of two blocks did `fence.proxy.alias` since.
    pub(super) fn has_fenced_aliases(&mut self, writer: BlockId, time: Time, reader: BlockId) -> bool {
        self.steps(writer).alias_fence > time || self.steps(reader).alias_fence > time
    }
}
