//! What the threads of a warp do together.

use crate::operand::{PredicateSource, RegisterId, Sink, Source};
use crate::types::{BitType, IntegerType};

/// `shfl.sync`, and `shfl` of devices before `sm_70`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// From which lane.
    pub mode: ShuffleMode,
    /// Where the value of the other lane goes.
    pub destination: RegisterId,
    /// Where it goes whether that lane is in range.
    pub in_range: Sink,
    /// What this lane gives, 32 bits.
    pub value: Source,
    /// The lane or how far away it is.
    pub lane: Source,
    /// Bits 4 to 0: the clamp; bits 12 to 8: which bits of the lane split the warp into segments.
    pub clamp: Source,
    /// The lanes that take part; `None` for the old form, in which those do that are here.
    pub mask: Option<Source>,
}

/// From which lane a [`Shuffle`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShuffleMode {
    /// So many lanes below.
    Up,
    /// So many lanes above.
    Down,
    /// The lane whose number differs in these bits.
    Butterfly,
    /// This lane.
    Index,
}

/// `vote.sync`, and `vote` of devices before `sm_70`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote {
    /// What is asked.
    pub mode: VoteMode,
    /// Where the answer goes: a mask for `Ballot`, else a predicate.
    pub destination: RegisterId,
    /// The predicate of this lane.
    pub predicate: PredicateSource,
    /// The lanes that take part; `None` for the old form, in which those do that are here.
    pub mask: Option<Source>,
}

/// What a [`Vote`] asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoteMode {
    /// Is it true in all?
    All,
    /// Is it true in any?
    Any,
    /// Is it the same in all?
    Uniform,
    /// In which is it true?
    Ballot,
}

/// `match.sync`: which lanes hold the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// `B32` or `B64`.
    pub ty: BitType,
    /// `.all`: the mask if all hold the same, else zero. Otherwise `.any`: those that hold what this lane holds.
    pub all: bool,
    /// Where the mask goes.
    pub destination: Sink,
    /// For `.all`: where it goes whether all hold the same.
    pub same: Sink,
    /// What this lane holds.
    pub value: Source,
    /// The lanes that take part.
    pub mask: Source,
}

/// `redux.sync`: what all lanes hold, joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpReduce {
    /// How they are joined, and on which type.
    pub reduction: Reduction,
    /// Where the result goes, the same in all lanes.
    pub destination: RegisterId,
    /// What this lane gives.
    pub value: Source,
    /// The lanes that take part.
    pub mask: Source,
}

/// How a [`WarpReduce`] joins values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the operations")]
pub enum Reduction {
    Add(IntegerType),
    Min(IntegerType),
    Max(IntegerType),
    And,
    Or,
    Xor,
    /// The smaller of two `F32`, by absolute value with `abs`; NaN if `nan` and any is.
    FloatMin {
        abs: bool,
        nan: bool,
    },
    /// The larger of two `F32`, by absolute value with `abs`; NaN if `nan` and any is.
    FloatMax {
        abs: bool,
        nan: bool,
    },
}
