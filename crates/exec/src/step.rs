//! What the threads of a block do, step by step.

use peermap_memory::Access;
use peermap_ptx::analysis::BlockId;
use peermap_ptx::instruction::{AtomicOp, Comparison, Reduction, ShuffleMode, VoteMode};
use peermap_ptx::{ScalarType, SpecialRegister};

use crate::compile::code::SegmentId;
use crate::window::Window;

/// The code of a body: the steps of each basic block.
pub(crate) struct Plan {
    pub(crate) blocks: Vec<BlockPlan>,
}

/// The steps of a basic block, and where threads go from there.
pub(crate) struct BlockPlan {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
    /// The block where threads that part here meet again.
    pub(crate) meeting: Option<BlockId>,
}

/// Something that all active lanes do.
pub(crate) enum Step {
    /// Machine code.
    Compute(SegmentId),
    /// A comparison of values that grow from lane to lane, found from the first and the last lane.
    Compare(AffineCompare),
    /// A load or a store.
    Transfer(Transfer),
    /// `atom` or `red`.
    Atomic(AtomicStep),
    /// `multimem`.
    Multimem(MultimemStep),
    /// `bar` and `barrier`.
    Barrier(BarrierStep),
    /// `bar.warp.sync`.
    WarpBarrier(WarpBarrierStep),
    /// What the lanes of a warp do together.
    Warp(WarpStep),
    /// A call of what the system has.
    System(SystemStep),
    /// `membar` or `fence`, of which one stands between two addresses of the same memory.
    Fence { alias: bool },
    /// `nanosleep`: the lanes have time.
    Rest,
    /// `mov` of a clock.
    Timer(TimerStep),
}

/// A value that a step reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Constant(u64),
    Scalar { word: u32, stride: i64 },
    Lanes { array: u32 },
}

/// Where a step writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Scalar { word: u32 },
    Lanes { array: u32 },
    Predicates { array: u32 },
}

/// Which of the lanes take part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    Scalar { word: u32, negated: bool },
    Predicate { array: u32, negated: bool },
    Mask { number: u32, negated: bool },
}

/// A predicate that a step reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flag {
    Constant(bool),
    Condition(Condition),
}

/// What an address counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// The address itself tells.
    Generic,
    Global,
    /// The variables of the module in `.const`.
    Constant,
    Own(Window),
}

/// An address: a value and an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub(crate) space: Space,
    pub(crate) base: Operand,
    pub(crate) offset: i64,
    /// How many bits the address has: 32 or 64.
    pub(crate) bits: u32,
}

/// `setp` of values that are kept once.
pub(crate) struct AffineCompare {
    pub(crate) comparison: Comparison,
    pub(crate) ty: ScalarType,
    pub(crate) a: Operand,
    pub(crate) b: Operand,
    /// The predicate array of the outcome.
    pub(crate) array: u32,
    /// Whether only branches and guards of steps read the outcome: then it is kept as a mask.
    pub(crate) as_mask: bool,
}

/// A load or a store of one or more elements for each lane.
pub(crate) struct Transfer {
    pub(crate) instruction: u32,
    pub(crate) condition: Option<Condition>,
    pub(crate) location: Location,
    pub(crate) element: ScalarType,
    pub(crate) elements: Elements,
    /// Whether a loop around it may wait for what others write: the access has an order.
    pub(crate) ordered: bool,
}

/// What is transferred.
pub(crate) enum Elements {
    /// For a load: where each element goes, and how wide the register is.
    Loaded(Vec<Option<(Target, u32)>>),
    /// For a store: the elements.
    Stored(Vec<Operand>),
}

impl Transfer {
    pub(crate) fn access(&self) -> Access {
        match self.elements {
            Elements::Loaded(_) => Access::Read,
            Elements::Stored(_) => Access::Write,
        }
    }

    fn count(&self) -> usize {
        match &self.elements {
            Elements::Loaded(targets) => targets.len(),
            Elements::Stored(sources) => sources.len(),
        }
    }

    /// How many bytes one lane transfers.
    pub(crate) fn bytes(&self) -> usize {
        self.element.size() as usize * self.count()
    }
}

/// An atomic operation on one or more elements for each lane, each of which is a step of its own.
pub(crate) struct AtomicStep {
    pub(crate) instruction: u32,
    pub(crate) condition: Option<Condition>,
    pub(crate) location: Location,
    pub(crate) op: AtomicOp,
    pub(crate) ty: ScalarType,
    /// In device memory subnormal numbers, read or made, are zero.
    pub(crate) flush: bool,
    pub(crate) elements: Vec<AtomicElement>,
}

impl AtomicStep {
    /// Whether threads learn what lay in memory before.
    pub(crate) fn yields(&self) -> bool {
        self.elements.iter().any(|element| element.target.is_some())
    }
}

/// What an atomic operation reads and yields for one element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtomicElement {
    pub(crate) operand: Operand,
    pub(crate) swap: Option<Operand>,
    pub(crate) target: Option<Target>,
}

/// An access to all memories behind a multicast address, of one or more elements for each lane.
pub(crate) struct MultimemStep {
    pub(crate) instruction: u32,
    pub(crate) condition: Option<Condition>,
    pub(crate) location: Location,
    pub(crate) ty: ScalarType,
    /// Whether it has an order, as in a [`Transfer`].
    pub(crate) ordered: bool,
    pub(crate) action: MultimemAction,
}

/// What is done there.
pub(crate) enum MultimemAction {
    /// What the memories hold is joined; with `wide`, halves are summed up in `f32`.
    LoadReduce { op: AtomicOp, wide: bool, targets: Vec<Option<Target>> },
    /// The elements are stored.
    Store { sources: Vec<Operand> },
    /// The elements are joined into what each memory holds.
    Reduce { op: AtomicOp, sources: Vec<Operand> },
}

/// A barrier of the block, by number.
pub(crate) struct BarrierStep {
    pub(crate) instruction: u32,
    pub(crate) condition: Option<Condition>,
    pub(crate) barrier: Operand,
    /// How many threads it is for; all of the block if that is not said.
    pub(crate) threads: Option<Operand>,
    pub(crate) action: BarrierAction,
}

/// What threads do at a barrier.
pub(crate) enum BarrierAction {
    /// They wait.
    Wait,
    /// They are counted and go on.
    Arrive,
    /// They wait, and learn for how many of them something holds.
    Count { flag: Flag, target: Target },
    /// They wait, and learn whether something holds for all of them.
    All { flag: Flag, target: Target },
    /// They wait, and learn whether something holds for one of them.
    Any { flag: Flag, target: Target },
}

/// A barrier of the lanes that a mask names.
pub(crate) struct WarpBarrierStep {
    pub(crate) instruction: u32,
    pub(crate) condition: Option<Condition>,
    pub(crate) mask: Operand,
}

/// An operation on values of the lanes of a warp.
pub(crate) struct WarpStep {
    pub(crate) instruction: u32,
    pub(crate) condition: Option<Condition>,
    /// The lanes that take part; those that run if that is not said.
    pub(crate) mask: Option<Operand>,
    pub(crate) target: Option<Target>,
    pub(crate) operation: WarpOperation,
}

/// What the lanes of a warp do.
pub(crate) enum WarpOperation {
    Shuffle { mode: ShuffleMode, value: Operand, lane: Operand, clamp: Operand, in_range: Option<Target> },
    Vote { mode: VoteMode, flag: Flag },
    Match { bits: u32, all: bool, value: Operand, same: Option<Target> },
    Reduce { reduction: Reduction, value: Operand },
    ActiveMask,
    Elect { chosen: Target },
}

/// A function that the system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemFunction {
    /// `vprintf`.
    Print,
    /// `__assertfail`.
    AssertFail,
}

impl SystemFunction {
    /// The function of this name, if launches know of it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "vprintf" => Some(Self::Print),
            "__assertfail" => Some(Self::AssertFail),
            _ => None,
        }
    }
}

/// A call of what the system has, by all lanes.
pub(crate) struct SystemStep {
    pub(crate) instruction: u32,
    pub(crate) function: SystemFunction,
    pub(crate) arguments: Vec<Operand>,
    /// Where the result goes, if it has one.
    pub(crate) target: Option<Target>,
}

/// The reading of a clock.
pub(crate) struct TimerStep {
    pub(crate) condition: Option<Condition>,
    pub(crate) clock: SpecialRegister,
    pub(crate) target: Target,
    /// How wide the register is.
    pub(crate) bits: u32,
}

/// Where threads go from the end of a basic block.
pub(crate) enum End {
    /// All go on there; `None` is the end of the threads.
    Go(Option<BlockId>),
    /// Those for which the condition holds go to the first, the others to the second.
    Part { condition: Condition, taken: Option<BlockId>, other: Option<BlockId> },
    /// `trap`, perhaps only for some.
    Trap { instruction: u32, condition: Option<Condition>, other: Option<BlockId> },
}
