//! What reads and writes memory.

use super::modifiers::{Order, Scope, StateSpace};
use crate::operand::{Address, Sink, Source};
use crate::types::ScalarType;

/// How caches treat what is read or written. None changes a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheOperator {
    /// None is written: `.ca` for loads and `.wb` for stores.
    #[default]
    Default,
    /// `.ca`: in all levels.
    All,
    /// `.cg`: in the global level.
    Global,
    /// `.cs`: likely used once.
    Streaming,
    /// `.lu`: used for the last time.
    LastUse,
    /// `.cv`: read again each time.
    Volatile,
    /// `.wb`: written back.
    WriteBack,
    /// `.wt`: written through.
    WriteThrough,
}

/// `ld`, `ldu`, `ld.global.nc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The space of the address.
    pub space: StateSpace,
    /// How it is ordered.
    pub order: Order,
    /// `.nc` (and `ldu`): nothing writes there while the kernel runs.
    pub read_only: bool,
    /// How caches treat it.
    pub cache: CacheOperator,
    /// The type of an element.
    pub ty: ScalarType,
    /// Where the elements go: 1, 2, 4 or 8. A register wider than `ty` receives the element extended: with its sign
    /// for signed types, else with zeros.
    pub destinations: Vec<Sink>,
    /// Where the first element lies. All of them together must be aligned to their size.
    pub address: Address,
}

/// `st`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The space of the address.
    pub space: StateSpace,
    /// How it is ordered.
    pub order: Order,
    /// How caches treat it.
    pub cache: CacheOperator,
    /// The type of an element.
    pub ty: ScalarType,
    /// Where the first element goes. All of them together must be aligned to their size.
    pub address: Address,
    /// The elements: 1, 2, 4 or 8. Of a register wider than `ty` the low bits are stored.
    pub sources: Vec<Source>,
}

/// What an atomic operation does to the value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// `.exch`: the new value.
    Exchange,
    /// `.cas`: the second operand, if the value equals the first.
    CompareAndSwap,
    /// `.add`.
    Add,
    /// `.inc`: one more, or zero from the operand on.
    Increment,
    /// `.dec`: one less, or the operand from zero and from above the operand.
    Decrement,
    /// `.min`.
    Min,
    /// `.max`.
    Max,
    /// `.and`.
    And,
    /// `.or`.
    Or,
    /// `.xor`.
    Xor,
}

/// `atom` and `red`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// What is done.
    pub op: AtomicOp,
    /// How it is ordered. `Weak` is not among the orders.
    pub order: Order,
    /// For which threads it is one step. It is that of `order`.
    pub scope: Scope,
    /// `Generic`, `Global`, `Shared` or `SharedCluster`.
    pub space: StateSpace,
    /// The type of an element.
    pub ty: ScalarType,
    /// `.noftz`: subnormal numbers stay what they are. An `F32` in global memory without it is subject to `ftz`.
    pub noftz: bool,
    /// Where the element lies.
    pub address: Address,
    /// One for a single element, or those of a vector, each of which is a step of its own.
    pub values: Vec<AtomicValue>,
}

/// What an atomic operation reads and yields for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicValue {
    /// Where the old value goes; always the sink for `red`.
    pub destination: Sink,
    /// The operand.
    pub operand: Source,
    /// What `.cas` writes; `None` for all others.
    pub swap: Option<Source>,
}

/// `multimem.ld_reduce`: what all memories behind a multicast address hold, joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultimemLoadReduce {
    /// How they are joined: `Add`, `Min`, `Max`, `And`, `Or` or `Xor`.
    pub op: AtomicOp,
    /// `Weak`, `Relaxed` or `Acquire`.
    pub order: Order,
    /// `Generic` or `Global`.
    pub space: StateSpace,
    /// The type of an element.
    pub ty: ScalarType,
    /// `.acc::f32` (or `.acc::f16`): the type that sums are made in.
    pub accumulate: Option<ScalarType>,
    /// Where the elements go.
    pub destinations: Vec<Sink>,
    /// The multicast address.
    pub address: Address,
}

/// `multimem.st`: a store to all memories behind a multicast address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultimemStore {
    /// `Weak`, `Relaxed` or `Release`.
    pub order: Order,
    /// `Generic` or `Global`.
    pub space: StateSpace,
    /// The type of an element.
    pub ty: ScalarType,
    /// The multicast address.
    pub address: Address,
    /// The elements.
    pub sources: Vec<Source>,
}

/// `multimem.red`: a reduction in each memory behind a multicast address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultimemReduce {
    /// What is done: `Add`, `Min`, `Max`, `And`, `Or` or `Xor`.
    pub op: AtomicOp,
    /// `Relaxed` or `Release`.
    pub order: Order,
    /// `Generic` or `Global`.
    pub space: StateSpace,
    /// The type of an element.
    pub ty: ScalarType,
    /// The multicast address.
    pub address: Address,
    /// The elements.
    pub sources: Vec<Source>,
}

/// What a [`CacheHint`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheHintKind {
    /// `prefetch`, `prefetchu`: bring it near.
    Prefetch,
    /// `applypriority`: let it go first or last.
    ApplyPriority,
    /// `discard`: the bytes may be lost. Who reads them before a write reads anything.
    Discard,
}

/// `prefetch`, `prefetchu`, `applypriority`, `discard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHint {
    /// What it asks for.
    pub kind: CacheHintKind,
    /// The space of the address.
    pub space: StateSpace,
    /// Where.
    pub address: Address,
    /// How much, 0 where it is not said.
    ///
    /// # Units
    /// Bytes.
    pub bytes: u32,
}
