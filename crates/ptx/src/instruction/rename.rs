//! The same instruction with other registers and symbols, as it is put into another body.

use super::control::{CallArgument, CallReturn, CallTarget};
use super::{BarrierOp, Instruction, Operation};
use crate::operand::{Address, AddressBase, LocalId, MoveSource, PredicateSource, RegisterId, Sink, Source, Symbol};

/// What takes the place of registers and symbols.
struct Renamer<R, S> {
    new_register: R,
    new_symbol: S,
}

impl Instruction {
    /// The instruction with every register and every symbol replaced. The targets of branches and the place in the
    /// source stay what they are.
    #[must_use]
    pub fn renamed(
        &self,
        register: impl Fn(RegisterId) -> RegisterId,
        symbol: impl Fn(Symbol) -> Symbol,
    ) -> Instruction {
        let renamer = Renamer { new_register: register, new_symbol: symbol };
        let mut renamed = self.clone();
        if let Some(guard) = &mut renamed.guard {
            renamer.register(&mut guard.predicate);
        }
        renamer.operation(&mut renamed.operation);
        renamed
    }
}

impl<R: Fn(RegisterId) -> RegisterId, S: Fn(Symbol) -> Symbol> Renamer<R, S> {
    fn register(&self, register: &mut RegisterId) {
        *register = (self.new_register)(*register);
    }

    fn sink(&self, sink: &mut Sink) {
        sink.iter_mut().for_each(|register| self.register(register));
    }

    fn sinks(&self, sinks: &mut [Sink]) {
        sinks.iter_mut().for_each(|sink| self.sink(sink));
    }

    fn source(&self, source: &mut Source) {
        if let Source::Register(register) = source {
            self.register(register);
        }
    }

    fn sources<'s>(&self, sources: impl IntoIterator<Item = &'s mut Source>) {
        sources.into_iter().for_each(|source| self.source(source));
    }

    fn predicate(&self, predicate: &mut PredicateSource) {
        self.source(&mut predicate.value);
    }

    fn symbol(&self, symbol: &mut Symbol) {
        *symbol = (self.new_symbol)(*symbol);
    }

    fn local(&self, local: &mut LocalId) {
        if let Symbol::Local(new) = (self.new_symbol)(Symbol::Local(*local)) {
            *local = new;
        }
    }

    fn address(&self, address: &mut Address) {
        match &mut address.base {
            AddressBase::Register(register) => self.register(register),
            AddressBase::Symbol(symbol) => self.symbol(symbol),
            AddressBase::Absolute => {}
        }
    }

    fn moved(&self, source: &mut MoveSource) {
        match source {
            MoveSource::Value(value) => self.source(value),
            MoveSource::Symbol(symbol, _) => self.symbol(symbol),
            MoveSource::Special(_) => {}
        }
    }

    fn operation(&self, operation: &mut Operation) {
        use Operation as O;
        match operation {
            O::Unary { destination, source, .. } => {
                self.register(destination);
                self.source(source);
            }
            O::Binary { destination, a, b, .. } => {
                self.register(destination);
                self.sources([a, b]);
            }
            O::Ternary { destination, a, b, c, .. } => {
                self.register(destination);
                self.sources([a, b, c]);
            }
            O::InsertBits { destination, a, b, start, length, .. } => {
                self.register(destination);
                self.sources([a, b, start, length]);
            }
            O::Lop3(lop3) => {
                self.sink(&mut lop3.destination);
                self.sources([&mut lop3.a, &mut lop3.b, &mut lop3.c]);
                if let Some(predicate) = &mut lop3.predicate {
                    self.register(&mut predicate.destination);
                    self.predicate(&mut predicate.with);
                }
            }
            O::Carry(carry) => {
                self.register(&mut carry.destination);
                self.sources([&mut carry.a, &mut carry.b].into_iter().chain(&mut carry.c));
                carry.carry_in.iter_mut().chain(&mut carry.carry_out).for_each(|flag| self.register(flag));
            }
            O::SetPredicate(set) => {
                self.sink(&mut set.p);
                self.sink(&mut set.q);
                self.sources([&mut set.a, &mut set.b]);
                set.combine.iter_mut().for_each(|combine| self.predicate(&mut combine.with));
            }
            O::Set(set) => {
                self.register(&mut set.destination);
                self.sources([&mut set.a, &mut set.b]);
                set.combine.iter_mut().for_each(|combine| self.predicate(&mut combine.with));
            }
            O::Convert { destination, a, b, .. } => {
                self.register(destination);
                self.sources([a].into_iter().chain(b));
            }
            O::ConvertPack(pack) => {
                self.register(&mut pack.destination);
                self.sources([&mut pack.a, &mut pack.b].into_iter().chain(&mut pack.c));
            }
            O::Move { destination, source, .. } => {
                self.register(destination);
                self.moved(source);
            }
            O::Pack { destination, sources, .. } | O::CreatePolicy { destination, sources } => {
                self.register(destination);
                self.sources(sources);
            }
            O::Unpack { destinations, source, .. } => {
                self.sinks(destinations);
                self.source(source);
            }
            O::MoveVector { destinations, sources, .. } => {
                self.sinks(destinations);
                sources.iter_mut().for_each(|source| self.moved(source));
            }
            other => self.memory(other),
        }
    }

    fn memory(&self, operation: &mut Operation) {
        use Operation as O;
        match operation {
            O::Load(load) => {
                self.sinks(&mut load.destinations);
                self.address(&mut load.address);
            }
            O::Store(store) => {
                self.address(&mut store.address);
                self.sources(&mut store.sources);
            }
            O::Atomic(atomic) => {
                self.address(&mut atomic.address);
                for value in &mut atomic.values {
                    self.sink(&mut value.destination);
                    self.sources([&mut value.operand].into_iter().chain(&mut value.swap));
                }
            }
            O::MultimemLoadReduce(load) => {
                self.sinks(&mut load.destinations);
                self.address(&mut load.address);
            }
            O::MultimemStore(store) => {
                self.address(&mut store.address);
                self.sources(&mut store.sources);
            }
            O::MultimemReduce(reduce) => {
                self.address(&mut reduce.address);
                self.sources(&mut reduce.sources);
            }
            O::CacheHint(hint) => self.address(&mut hint.address),
            other => self.together(other),
        }
    }

    fn together(&self, operation: &mut Operation) {
        use Operation as O;
        match operation {
            O::Barrier(barrier) => {
                self.sources([&mut barrier.barrier].into_iter().chain(&mut barrier.threads));
                match &mut barrier.op {
                    BarrierOp::CountTrue { destination, predicate }
                    | BarrierOp::AllTrue { destination, predicate }
                    | BarrierOp::AnyTrue { destination, predicate } => {
                        self.register(destination);
                        self.predicate(predicate);
                    }
                    BarrierOp::Sync | BarrierOp::Arrive => {}
                }
            }
            O::WarpBarrier { mask } => self.source(mask),
            O::Shuffle(shuffle) => {
                self.register(&mut shuffle.destination);
                self.sink(&mut shuffle.in_range);
                self.sources([&mut shuffle.value, &mut shuffle.lane, &mut shuffle.clamp]);
                self.sources(&mut shuffle.mask);
            }
            O::Vote(vote) => {
                self.register(&mut vote.destination);
                self.predicate(&mut vote.predicate);
                self.sources(&mut vote.mask);
            }
            O::Match(matched) => {
                self.sink(&mut matched.destination);
                self.sink(&mut matched.same);
                self.sources([&mut matched.value, &mut matched.mask]);
            }
            O::WarpReduce(reduce) => {
                self.register(&mut reduce.destination);
                self.sources([&mut reduce.value, &mut reduce.mask]);
            }
            O::ActiveMask { destination } => self.register(destination),
            O::Elect { lane, chosen, mask } => {
                self.sink(lane);
                self.register(chosen);
                self.source(mask);
            }
            O::Nanosleep { duration } => self.source(duration),
            O::BranchTable(table) => self.register(&mut table.index),
            O::Call(call) => {
                if let CallTarget::Indirect { pointer, .. } = &mut call.target {
                    self.register(pointer);
                }
                for argument in &mut call.arguments {
                    match argument {
                        CallArgument::Local(local) => self.local(local),
                        CallArgument::Value(value) => self.source(value),
                    }
                }
                for returned in &mut call.returns {
                    match returned {
                        CallReturn::Local(local) => self.local(local),
                        CallReturn::Register(sink) => self.sink(sink),
                    }
                }
            }
            _ => {}
        }
    }
}
