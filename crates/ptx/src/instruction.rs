//! Instructions.
//!
//! Operations are grouped by their shape, because what works on lanes does: [`UnaryOp`], [`BinaryOp`] and
//! [`TernaryOp`] compute one result from values and touch nothing else; everything else is a variant of its own.

mod arithmetic;
mod compare;
mod control;
mod convert;
mod memory;
mod modifiers;
mod registers;
mod rename;
mod symbols;
mod sync;
mod warp;

use std::sync::Arc;

use crate::lexer::Position;
use crate::operand::{Guard, LocationId, MoveSource, RegisterId, Sink, Source};
use crate::types::ScalarType;

pub use arithmetic::{
    BinaryOp, Carry, CarryOp, FloatMinMax, Half, Lop3, Lop3Predicate, TernaryOp, Transcendental, UnaryOp,
};
pub use compare::{BoolOp, Combine, Comparison, Set, SetPredicate};
pub use control::{Branch, BranchTable, Call, CallArgument, CallReturn, CallTarget};
pub use convert::{Conversion, CvtPack, CvtPackTo};
pub use memory::{
    Atomic, AtomicOp, AtomicValue, CacheHint, CacheHintKind, CacheOperator, Load, MultimemLoadReduce, MultimemReduce,
    MultimemStore, Store,
};
pub use modifiers::{FloatTest, Order, Permute, Precision, Rounding, Scope, StateSpace};
pub use sync::{Barrier, BarrierOp, ClusterBarrier, Fence, ProxyFence};
pub use warp::{Match, Reduction, Shuffle, ShuffleMode, Vote, VoteMode, WarpReduce};

/// An instruction of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Whether it runs; without, it always does.
    pub guard: Option<Guard>,
    /// What it does.
    pub operation: Operation,
    /// Its opcode with all modifiers, as written: what messages call it.
    pub name: Arc<str>,
    /// Where it starts in the PTX: its opcode.
    pub at: Position,
    /// Where it comes from, if `.loc` says so.
    pub location: Option<LocationId>,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// One result from one value.
    Unary {
        /// What is computed.
        op: UnaryOp,
        /// Where it goes.
        destination: RegisterId,
        /// The value.
        source: Source,
    },
    /// One result from two values.
    Binary {
        /// What is computed.
        op: BinaryOp,
        /// Where it goes.
        destination: RegisterId,
        /// The first value.
        a: Source,
        /// The second.
        b: Source,
    },
    /// One result from three values.
    Ternary {
        /// What is computed.
        op: TernaryOp,
        /// Where it goes.
        destination: RegisterId,
        /// The first value.
        a: Source,
        /// The second.
        b: Source,
        /// The third.
        c: Source,
    },
    /// `bfi`: the low `length` bits of `a` put into `b` at bit `start`.
    InsertBits {
        /// `B32` or `B64`.
        ty: ScalarType,
        /// Where the result goes.
        destination: RegisterId,
        /// What is put in.
        a: Source,
        /// What it is put into.
        b: Source,
        /// The lowest bit that changes; the low 8 bits of a `U32` count.
        start: Source,
        /// How many change; the low 8 bits of a `U32` count.
        length: Source,
    },
    /// `lop3` with all its forms.
    Lop3(Lop3),
    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
    Carry(Carry),
    /// `setp`.
    SetPredicate(SetPredicate),
    /// `set`.
    Set(Set),
    /// `cvt`.
    Convert {
        /// From which type to which, and how.
        conversion: Conversion,
        /// Where the result goes.
        destination: RegisterId,
        /// The value. Of two, `a` is the upper half of the result.
        a: Source,
        /// The lower half of the result of a conversion of two values to a packed type.
        b: Option<Source>,
    },
    /// `cvt.pack`.
    ConvertPack(CvtPack),
    /// `mov` of one value.
    Move {
        /// The type that it names.
        ty: ScalarType,
        /// Where the value goes.
        destination: RegisterId,
        /// The value.
        source: MoveSource,
    },
    /// `mov` of several values into one register, the first into its lowest bits.
    Pack {
        /// The type of the whole.
        ty: ScalarType,
        /// Where it goes.
        destination: RegisterId,
        /// The parts, 2 or 4 of equal width.
        sources: Vec<Source>,
    },
    /// `mov` of one register into several, its lowest bits into the first.
    Unpack {
        /// The type of the whole.
        ty: ScalarType,
        /// Where the parts go, 2 or 4 of equal width.
        destinations: Vec<Sink>,
        /// The whole.
        source: Source,
    },
    /// `mov` of a vector. All are read before the first is written.
    MoveVector {
        /// The type of an element.
        ty: ScalarType,
        /// Where the elements go.
        destinations: Vec<Sink>,
        /// The elements.
        sources: Vec<MoveSource>,
    },
    /// `ld`, `ldu`, `ld.global.nc`.
    Load(Load),
    /// `st`.
    Store(Store),
    /// `atom`, and `red`, which has no destination.
    Atomic(Atomic),
    /// `multimem.ld_reduce`.
    MultimemLoadReduce(MultimemLoadReduce),
    /// `multimem.st`.
    MultimemStore(MultimemStore),
    /// `multimem.red`.
    MultimemReduce(MultimemReduce),
    /// `prefetch`, `prefetchu`, `applypriority`, `discard`.
    CacheHint(CacheHint),
    /// `createpolicy`: a value that only cache hints read.
    CreatePolicy {
        /// Where it goes, a register of 64 bits.
        destination: RegisterId,
        /// What else is read, in the order of the text.
        sources: Vec<Source>,
    },
    /// `bra`.
    Branch(Branch),
    /// `brx.idx`.
    BranchTable(BranchTable),
    /// `call`.
    Call(Call),
    /// `ret`: back to the caller; the end of the thread in an entry.
    Return,
    /// `exit`: the end of the thread.
    Exit,
    /// `trap`: the end of the launch with an error.
    Trap,
    /// `brkpt`.
    Breakpoint,
    /// `bar` and `barrier`.
    Barrier(Barrier),
    /// `bar.warp.sync`.
    WarpBarrier {
        /// The lanes that wait for each other.
        mask: Source,
    },
    /// `barrier.cluster.arrive` and `barrier.cluster.wait`.
    ClusterBarrier(ClusterBarrier),
    /// `membar` and `fence`.
    Fence(Fence),
    /// `shfl` and `shfl.sync`.
    Shuffle(Shuffle),
    /// `vote` and `vote.sync`.
    Vote(Vote),
    /// `match.sync`.
    Match(Match),
    /// `redux.sync`.
    WarpReduce(WarpReduce),
    /// `activemask`.
    ActiveMask {
        /// Where the mask goes.
        destination: RegisterId,
    },
    /// `elect.sync`.
    Elect {
        /// Where the number of the chosen lane goes.
        lane: Sink,
        /// Whether it is this one.
        chosen: RegisterId,
        /// The lanes that choose.
        mask: Source,
    },
    /// `griddepcontrol`.
    GridDependency {
        /// Whether it waits for the grids before (`.wait`) or lets those behind start (`.launch_dependents`).
        wait: bool,
    },
    /// `nanosleep`.
    Nanosleep {
        /// About how long.
        ///
        /// # Units
        /// Nanoseconds.
        duration: Source,
    },
    /// `pmevent`: counts events; nothing that a program can see.
    PerformanceEvent {
        /// Bit `n` for event `n`.
        mask: u16,
    },
    /// `setmaxnreg`: gives registers back or asks for more; nothing that a program can see.
    SetMaxRegisters {
        /// How many there are afterwards.
        registers: u32,
    },
    /// An instruction of the language that has no meaning here. It is no error of the text: whoever would run it says
    /// that it is not modelled, by its name and place ([`Instruction::name`], [`Instruction::at`]).
    Unmodelled,
}
