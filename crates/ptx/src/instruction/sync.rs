//! What threads wait for each other with.

use super::modifiers::{Order, Scope};
use crate::operand::{PredicateSource, RegisterId, Source};

/// `bar` and `barrier`, of the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// What it does.
    pub op: BarrierOp,
    /// `.aligned`, and every `bar`: all threads of the warp run this same instruction together.
    pub aligned: bool,
    /// Its number, 0 to 15.
    pub barrier: Source,
    /// How many threads it takes, a multiple of the warp; `None` for all of the block.
    pub threads: Option<Source>,
}

/// What a [`Barrier`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    /// `.sync`: wait for all.
    Sync,
    /// `.arrive`: be counted, and go on.
    Arrive,
    /// `.red.popc`: wait for all; how many predicates are true.
    CountTrue {
        /// Where the number goes.
        destination: RegisterId,
        /// The predicate of this thread.
        predicate: PredicateSource,
    },
    /// `.red.and`: wait for all; whether all predicates are true.
    AllTrue {
        /// Where the outcome goes, a predicate.
        destination: RegisterId,
        /// The predicate of this thread.
        predicate: PredicateSource,
    },
    /// `.red.or`: wait for all; whether any predicate is true.
    AnyTrue {
        /// Where the outcome goes, a predicate.
        destination: RegisterId,
        /// The predicate of this thread.
        predicate: PredicateSource,
    },
}

/// `barrier.cluster`, of the threads of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterBarrier {
    /// Whether it waits for all (`.wait`) or is counted (`.arrive`).
    pub wait: bool,
    /// `.relaxed`: no order of memory comes with it.
    pub relaxed: bool,
    /// `.aligned`: all threads of the warp run this same instruction together.
    pub aligned: bool,
}

/// `membar` and `fence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fence {
    /// `fence.sc`, and `membar` of every level: one order of all such fences of the scope.
    SequentiallyConsistent(Scope),
    /// `fence.acq_rel`, `fence.acquire` and `fence.release`.
    Ordered(Order),
    /// `fence.proxy` and `membar.proxy`: between two ways to the same memory.
    Proxy(ProxyFence),
    /// `fence.mbarrier_init.release.cluster`: initialisation of barriers is seen by the cluster.
    BarrierInit,
}

/// Between which ways to memory a fence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProxyFence {
    /// `.alias`: several virtual addresses of one place.
    Alias,
    /// `.async` and its narrower forms: the generic and the asynchronous way.
    Async,
    /// `.tensormap::generic` with its order: the generic way and that of tensor maps.
    TensorMap(Order),
    /// `.async::generic` with its order, for a cluster.
    AsyncGeneric(Order),
}
