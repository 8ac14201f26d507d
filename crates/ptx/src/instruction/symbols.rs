//! Which symbols an operation names.

use super::Operation;
use crate::operand::{AddressBase, MoveSource, Symbol};

impl Operation {
    /// The symbols whose addresses it takes.
    #[must_use]
    pub fn symbols(&self) -> Vec<Symbol> {
        let of_address = |base| if let AddressBase::Symbol(symbol) = base { vec![symbol] } else { Vec::new() };
        let of_move =
            |source: &MoveSource| if let MoveSource::Symbol(symbol, _) = source { Some(*symbol) } else { None };
        match self {
            Self::Move { source, .. } => of_move(source).into_iter().collect(),
            Self::MoveVector { sources, .. } => sources.iter().filter_map(of_move).collect(),
            Self::Load(load) => of_address(load.address.base),
            Self::Store(store) => of_address(store.address.base),
            Self::Atomic(atomic) => of_address(atomic.address.base),
            Self::MultimemLoadReduce(load) => of_address(load.address.base),
            Self::MultimemStore(store) => of_address(store.address.base),
            Self::MultimemReduce(reduce) => of_address(reduce.address.base),
            Self::CacheHint(hint) => of_address(hint.address.base),
            _ => Vec::new(),
        }
    }
}
