//! Which registers an instruction takes.

use crate::types::{ScalarType, TypeClass};

/// How wide a register may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// As wide as the type of the instruction.
    Exact,
    /// As wide or wider, for loads, stores and conversions.
    Wider,
}

/// Whether a register of type `register` can hold what an instruction of type `wanted` works on.
pub(super) fn fits(wanted: ScalarType, register: ScalarType, fit: Fit) -> bool {
    let (wide, narrow) = (register.bits(), wanted.bits());
    let width = wide == narrow || (fit == Fit::Wider && wide > narrow);
    let pack = matches!(wanted, ScalarType::U16x2 | ScalarType::S16x2);
    let class = match (wanted.class(), register.class()) {
        (TypeClass::Predicate, class) | (class, TypeClass::Predicate) => class == TypeClass::Predicate,
        (TypeClass::Bits, _) | (_, TypeClass::Bits) => true,
        (TypeClass::Float, TypeClass::Float) => wanted == register,
        (TypeClass::Float, _) | (_, TypeClass::Float) => false,
        (_, _) => !pack,
    };
    width && class
}
