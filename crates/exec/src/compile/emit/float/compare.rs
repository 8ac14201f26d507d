//! Comparisons of numbers, and choices by the sign of one.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::{Comparison, Set, SetPredicate};
use peermap_ptx::{FloatType, RegisterId, ScalarType, Source};

use super::super::emitter::Emitter;
use crate::float::Format;

/// The type of a pair of halves, the only pairs that are compared.
pub(in super::super) fn pair_type(ty: ScalarType) -> Option<FloatType> {
    FloatType::of(ty).filter(|ty| ty.is_packed())
}

fn condition(comparison: Comparison) -> FloatCC {
    match comparison {
        Comparison::Equal => FloatCC::Equal,
        Comparison::NotEqual => FloatCC::OrderedNotEqual,
        Comparison::Less => FloatCC::LessThan,
        Comparison::LessEqual => FloatCC::LessThanOrEqual,
        Comparison::Greater => FloatCC::GreaterThan,
        Comparison::GreaterEqual => FloatCC::GreaterThanOrEqual,
        Comparison::EqualOrUnordered => FloatCC::UnorderedOrEqual,
        Comparison::NotEqualOrUnordered => FloatCC::NotEqual,
        Comparison::LessOrUnordered => FloatCC::UnorderedOrLessThan,
        Comparison::LessEqualOrUnordered => FloatCC::UnorderedOrLessThanOrEqual,
        Comparison::GreaterOrUnordered => FloatCC::UnorderedOrGreaterThan,
        Comparison::GreaterEqualOrUnordered => FloatCC::UnorderedOrGreaterThanOrEqual,
        Comparison::Ordered => FloatCC::Ordered,
        Comparison::Unordered => FloatCC::Unordered,
    }
}

impl Emitter<'_, '_> {
    /// Whether a relation of two numbers holds: 0 or 1 in 64 bits.
    pub(in super::super) fn compared_numbers(
        &mut self,
        comparison: Comparison,
        format: Format,
        ftz: bool,
        [a, b]: [Value; 2],
    ) -> Value {
        let [a, b] = [a, b].map(|number| {
            let seen = self.flushed(format, ftz, number);
            self.native(format, seen)
        });
        let holds = self.builder.ins().fcmp(condition(comparison), a, b);
        self.builder.ins().uextend(types::I64, holds)
    }

    /// The outcomes for the low and the high numbers of two pairs.
    fn compared_pairs(&mut self, comparison: Comparison, ty: FloatType, ftz: bool, sources: [Source; 2]) -> [Value; 2] {
        let format = Format::of(ty);
        let wholes = sources.map(|source| self.integer(source, ty.bits(), false));
        [0, 1].map(|place| {
            let numbers = wholes.map(|whole| self.number_at(format, whole, place));
            self.compared_numbers(comparison, format, ftz, numbers)
        })
    }

    /// `setp` of pairs: a predicate for each half.
    pub(in super::super) fn set_pair_of_predicates(&mut self, set: &SetPredicate, ty: FloatType) {
        let outcomes = self.compared_pairs(set.comparison, ty, set.ftz, [set.a, set.b]);
        let outcomes = outcomes.map(|outcome| self.combined(outcome, set.combine));
        for (sink, outcome) in [set.p, set.q].into_iter().zip(outcomes) {
            if let Some(predicate) = sink {
                self.write(predicate, outcome, 1, false);
            }
        }
    }

    /// `set` of pairs: each half is 1.0, or all ones for an integer.
    pub(in super::super) fn set_pair(&mut self, set: &Set, ty: FloatType) {
        let format = Format::of(ty);
        let outcomes = self.compared_pairs(set.comparison, ty, set.ftz, [set.a, set.b]);
        let truth = if set.to.is_float() { format.one() } else { 0xFFFF };
        let [low, high] = outcomes.map(|outcome| {
            let outcome = self.combined(outcome, set.combine);
            let (yes, no) = (self.number(format, truth), self.number(format, 0));
            self.builder.ins().select(outcome, yes, no)
        });
        let whole = self.joined(format, low, high);
        self.write(set.destination, whole, 32, false);
    }

    /// `slct` by a number: NaN is not at least zero.
    pub(super) fn select_by_number(&mut self, bits: u32, ftz: bool, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let number = self.integer(c, 32, false);
        let seen = self.flushed(Format::F32, ftz, number);
        let native = self.native(Format::F32, seen);
        let zero = self.builder.ins().f32const(0.0);
        let condition = self.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, native, zero);
        let (a, b) = (self.integer(a, bits, false), self.integer(b, bits, false));
        let chosen = self.builder.ins().select(condition, a, b);
        self.write(destination, chosen, bits, false);
    }
}
