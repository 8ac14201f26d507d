//! The forms.

#[macro_use]
mod typed;

mod arithmetic;
mod bits;
mod carry;
mod compare;
mod convert;
mod fields;
mod guards;
mod memory;
mod moves;
mod multiply;
mod numbers;
mod orders;
mod packed;

use crate::form::{Form, Operands, Reference};

/// Operands at which integer instructions change what they do.
const EDGES: &[u64] = &[
    0,
    u64::MAX,
    1,
    0x8000_0000_8000_8080,
    31,
    0x7FFF_FFFF_7FFF_7F7F,
    0x8000_0000_0000_0000,
    32,
    0x0123_4567_89AB_CDEF,
    0x7FFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF_0000_0000,
    0x8000_0000,
    0x7FFF_FFFF,
    0xFFFF_8000,
    0xFFFF,
    0x8000,
    0x7FFF,
    0x80,
    0xFF,
    2,
    7,
    33,
    63,
    64,
    255,
    0x0001_0001,
];

/// The forms of integer and bit instructions.
#[must_use]
pub fn integers() -> Vec<Form> {
    let tables = [
        arithmetic::forms(),
        multiply::forms(),
        carry::forms(),
        packed::forms(),
        bits::forms(),
        fields::forms(),
        compare::forms(),
        convert::forms(),
        moves::forms(),
        memory::forms(),
        guards::forms(),
    ];
    tables.concat()
}

/// The forms of instructions on floating-point numbers.
#[must_use]
pub fn numbers() -> Vec<Form> {
    [numbers::forms(), orders::forms()].concat()
}

/// A form with one result.
fn one(text: &'static str, reference: fn(Operands) -> u64) -> Form {
    Form { text, sm: 75, edges: EDGES, reference: Reference::One(reference) }
}

/// A form with two.
fn two(text: &'static str, reference: fn(Operands) -> [u64; 2]) -> Form {
    Form { text, sm: 75, edges: EDGES, reference: Reference::Two(reference) }
}

/// The same form, which needs at least this capability.
fn since(sm: u32, form: Form) -> Form {
    Form { sm, ..form }
}

/// Words and their parts.
mod part {
    pub(super) fn w(word: u64) -> u32 {
        word as u32
    }

    pub(super) fn h(word: u64) -> u16 {
        word as u16
    }

    pub(super) fn si(word: u64) -> i32 {
        word as i32
    }

    /// A number of 32 bits as a result.
    pub(super) fn r(word: i32) -> u64 {
        u64::from(word as u32)
    }

    /// The low bits of a result.
    pub(super) fn low(word: u64, bits: u32) -> u64 {
        word << (64 - bits) >> (64 - bits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_many_forms_and_each_is_there_once() {
        let forms = [integers(), numbers()].concat();
        let texts: HashSet<_> = forms.iter().map(|form| form.text).collect();
        assert_eq!(texts.len(), forms.len());
        assert!(forms.len() >= 600, "{} forms", forms.len());
        assert!(forms.iter().all(|form| form.operands() > 0 && form.text.contains("%x")));
    }
}
