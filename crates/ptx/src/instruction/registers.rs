//! Which registers an instruction reads and writes.

use super::control::{CallArgument, CallReturn, CallTarget};
use super::{BarrierOp, Instruction, Operation};
use crate::operand::{Address, AddressBase, MoveSource, PredicateSource, RegisterId, Source};

impl Instruction {
    /// The registers that it reads, that of its guard among them. One may come twice.
    #[must_use]
    pub fn reads(&self) -> Vec<RegisterId> {
        let mut reads = self.operation.reads();
        reads.extend(self.guard.map(|guard| guard.predicate));
        reads
    }

    /// The registers that it writes where it runs. One may come twice.
    #[must_use]
    pub fn writes(&self) -> Vec<RegisterId> {
        self.operation.writes()
    }
}

/// Registers as they are found.
struct Reads(Vec<RegisterId>);

impl Reads {
    fn source(&mut self, source: Source) {
        if let Source::Register(register) = source {
            self.0.push(register);
        }
    }

    fn sources<'s>(&mut self, sources: impl IntoIterator<Item = &'s Source>) {
        sources.into_iter().for_each(|source| self.source(*source));
    }

    fn predicate(&mut self, predicate: PredicateSource) {
        self.source(predicate.value);
    }

    fn address(&mut self, address: Address) {
        if let AddressBase::Register(register) = address.base {
            self.0.push(register);
        }
    }

    fn moved(&mut self, source: MoveSource) {
        if let MoveSource::Value(value) = source {
            self.source(value);
        }
    }
}

impl Operation {
    /// The registers that it reads, whatever its guard is. One may come twice.
    #[must_use]
    pub fn reads(&self) -> Vec<RegisterId> {
        let mut reads = Reads(Vec::new());
        self.add_reads(&mut reads);
        reads.0
    }

    fn add_reads(&self, reads: &mut Reads) {
        match self {
            Self::Unary { source, .. } | Self::Unpack { source, .. } => reads.source(*source),
            Self::Binary { a, b, .. } => reads.sources([a, b]),
            Self::Ternary { a, b, c, .. } => reads.sources([a, b, c]),
            Self::InsertBits { a, b, start, length, .. } => reads.sources([a, b, start, length]),
            Self::Lop3(lop3) => {
                reads.sources([&lop3.a, &lop3.b, &lop3.c]);
                lop3.predicate.iter().for_each(|predicate| reads.predicate(predicate.with));
            }
            Self::Carry(carry) => {
                reads.sources([&carry.a, &carry.b].into_iter().chain(&carry.c));
                reads.0.extend(carry.carry_in);
            }
            Self::SetPredicate(set) => {
                reads.sources([&set.a, &set.b]);
                set.combine.iter().for_each(|combine| reads.predicate(combine.with));
            }
            Self::Set(set) => {
                reads.sources([&set.a, &set.b]);
                set.combine.iter().for_each(|combine| reads.predicate(combine.with));
            }
            Self::Convert { a, b, .. } => reads.sources([a].into_iter().chain(b)),
            Self::ConvertPack(pack) => reads.sources([&pack.a, &pack.b].into_iter().chain(&pack.c)),
            Self::Move { source, .. } => reads.moved(*source),
            Self::MoveVector { sources, .. } => sources.iter().for_each(|source| reads.moved(*source)),
            Self::Pack { sources, .. } | Self::CreatePolicy { sources, .. } => reads.sources(sources),
            Self::Load(load) => reads.address(load.address),
            Self::Store(store) => {
                reads.address(store.address);
                reads.sources(&store.sources);
            }
            Self::Atomic(atomic) => {
                reads.address(atomic.address);
                for value in &atomic.values {
                    reads.sources([&value.operand].into_iter().chain(&value.swap));
                }
            }
            Self::MultimemLoadReduce(load) => reads.address(load.address),
            Self::MultimemStore(store) => {
                reads.address(store.address);
                reads.sources(&store.sources);
            }
            Self::MultimemReduce(reduce) => {
                reads.address(reduce.address);
                reads.sources(&reduce.sources);
            }
            Self::CacheHint(hint) => reads.address(hint.address),
            Self::BranchTable(table) => reads.0.push(table.index),
            Self::Call(call) => {
                if let CallTarget::Indirect { pointer, .. } = &call.target {
                    reads.0.push(*pointer);
                }
                for argument in &call.arguments {
                    if let CallArgument::Value(value) = argument {
                        reads.source(*value);
                    }
                }
            }
            Self::Barrier(barrier) => {
                reads.sources([&barrier.barrier].into_iter().chain(&barrier.threads));
                match barrier.op {
                    BarrierOp::CountTrue { predicate, .. }
                    | BarrierOp::AllTrue { predicate, .. }
                    | BarrierOp::AnyTrue { predicate, .. } => reads.predicate(predicate),
                    BarrierOp::Sync | BarrierOp::Arrive => {}
                }
            }
            Self::WarpBarrier { mask } | Self::Elect { mask, .. } => reads.source(*mask),
            Self::Shuffle(shuffle) => {
                let read = [&shuffle.value, &shuffle.lane, &shuffle.clamp];
                reads.sources(read.into_iter().chain(&shuffle.mask));
            }
            Self::Vote(vote) => {
                reads.predicate(vote.predicate);
                reads.sources(&vote.mask);
            }
            Self::Match(matched) => reads.sources([&matched.value, &matched.mask]),
            Self::WarpReduce(reduce) => reads.sources([&reduce.value, &reduce.mask]),
            Self::Nanosleep { duration } => reads.source(*duration),
            Self::Branch(_)
            | Self::Return
            | Self::Exit
            | Self::Trap
            | Self::Breakpoint
            | Self::ClusterBarrier(_)
            | Self::Fence(_)
            | Self::ActiveMask { .. }
            | Self::GridDependency { .. }
            | Self::PerformanceEvent { .. }
            | Self::SetMaxRegisters { .. }
            | Self::Unmodelled => {}
        }
    }

    fn writes(&self) -> Vec<RegisterId> {
        match self {
            Self::Unary { destination, .. }
            | Self::Binary { destination, .. }
            | Self::Ternary { destination, .. }
            | Self::InsertBits { destination, .. }
            | Self::Convert { destination, .. }
            | Self::Move { destination, .. }
            | Self::Pack { destination, .. }
            | Self::CreatePolicy { destination, .. }
            | Self::ActiveMask { destination } => vec![*destination],
            Self::Lop3(lop3) => {
                let predicate = lop3.predicate.map(|predicate| predicate.destination);
                lop3.destination.into_iter().chain(predicate).collect()
            }
            Self::Carry(carry) => [carry.destination].into_iter().chain(carry.carry_out).collect(),
            Self::SetPredicate(set) => set.p.into_iter().chain(set.q).collect(),
            Self::Set(set) => vec![set.destination],
            Self::ConvertPack(pack) => vec![pack.destination],
            Self::Unpack { destinations, .. } | Self::MoveVector { destinations, .. } => {
                destinations.iter().flatten().copied().collect()
            }
            Self::Load(load) => load.destinations.iter().flatten().copied().collect(),
            Self::Atomic(atomic) => atomic.values.iter().filter_map(|value| value.destination).collect(),
            Self::MultimemLoadReduce(load) => load.destinations.iter().flatten().copied().collect(),
            Self::Call(call) => {
                let register = |returned: &CallReturn| match returned {
                    CallReturn::Register(register) => *register,
                    CallReturn::Local(_) => None,
                };
                call.returns.iter().filter_map(register).collect()
            }
            Self::Barrier(barrier) => match barrier.op {
                BarrierOp::CountTrue { destination, .. }
                | BarrierOp::AllTrue { destination, .. }
                | BarrierOp::AnyTrue { destination, .. } => vec![destination],
                BarrierOp::Sync | BarrierOp::Arrive => Vec::new(),
            },
            Self::Shuffle(shuffle) => [shuffle.destination].into_iter().chain(shuffle.in_range).collect(),
            Self::Vote(vote) => vec![vote.destination],
            Self::Match(matched) => matched.destination.into_iter().chain(matched.same).collect(),
            Self::WarpReduce(reduce) => vec![reduce.destination],
            Self::Elect { lane, chosen, .. } => lane.iter().copied().chain([*chosen]).collect(),
            Self::Store(_)
            | Self::MultimemStore(_)
            | Self::MultimemReduce(_)
            | Self::CacheHint(_)
            | Self::Branch(_)
            | Self::BranchTable(_)
            | Self::Return
            | Self::Exit
            | Self::Trap
            | Self::Breakpoint
            | Self::WarpBarrier { .. }
            | Self::ClusterBarrier(_)
            | Self::Fence(_)
            | Self::GridDependency { .. }
            | Self::Nanosleep { .. }
            | Self::PerformanceEvent { .. }
            | Self::SetMaxRegisters { .. }
            | Self::Unmodelled => Vec::new(),
        }
    }
}
