//! `setp` and `set`.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::{BoolOp, Combine, Comparison, Set, SetPredicate};
use peermap_ptx::{ScalarType, Source};

use super::emitter::Emitter;
use super::float::pair_type;
use crate::error::CompileError;
use crate::float::Format;

impl Emitter<'_, '_> {
    pub(super) fn set_predicate(&mut self, set: &SetPredicate) -> Result<(), CompileError> {
        if let Some(ty) = pair_type(set.ty) {
            self.set_pair_of_predicates(set, ty);
            return Ok(());
        }
        let outcome = self.compared(set.comparison, set.ty, set.ftz, [set.a, set.b])?;
        let contrary = self.builder.ins().bxor_imm_s(outcome, 1);
        let (first, second) = (self.combined(outcome, set.combine), self.combined(contrary, set.combine));
        if let Some(p) = set.p {
            self.write(p, first, 1, false);
        }
        if let Some(q) = set.q {
            self.write(q, second, 1, false);
        }
        Ok(())
    }

    pub(super) fn set(&mut self, set: &Set) -> Result<(), CompileError> {
        if let Some(ty) = pair_type(set.ty) {
            self.set_pair(set, ty);
            return Ok(());
        }
        let outcome = self.compared(set.comparison, set.ty, set.ftz, [set.a, set.b])?;
        let outcome = self.combined(outcome, set.combine);
        let result = match Format::of_scalar(set.to) {
            Some(format) => {
                let (one, zero) = (self.constant(types::I64, format.one().cast_signed()), self.constant(types::I64, 0));
                self.builder.ins().select(outcome, one, zero)
            }
            None => self.builder.ins().ineg(outcome),
        };
        let word = match self.builder.func.dfg.value_type(result) {
            types::I64 => self.cut(result, set.to.bits()),
            _ => result,
        };
        self.write(set.destination, word, set.to.bits(), false);
        Ok(())
    }

    /// Whether a relation holds: 0 or 1 in 64 bits.
    fn compared(
        &mut self,
        comparison: Comparison,
        ty: ScalarType,
        ftz: bool,
        [a, b]: [Source; 2],
    ) -> Result<Value, CompileError> {
        if matches!(ty, ScalarType::U16x2 | ScalarType::S16x2) {
            return self.unmodelled();
        }
        let [a, b] = [a, b].map(|source| self.integer(source, ty.bits(), ty.is_signed()));
        if let Some(format) = Format::of_scalar(ty) {
            return Ok(self.compared_numbers(comparison, format, ftz, [a, b]));
        }
        let signed = ty.is_signed();
        let condition = match (comparison, signed) {
            (Comparison::Equal, _) => IntCC::Equal,
            (Comparison::NotEqual, _) => IntCC::NotEqual,
            (Comparison::Less, true) => IntCC::SignedLessThan,
            (Comparison::Less, false) => IntCC::UnsignedLessThan,
            (Comparison::LessEqual, true) => IntCC::SignedLessThanOrEqual,
            (Comparison::LessEqual, false) => IntCC::UnsignedLessThanOrEqual,
            (Comparison::Greater, true) => IntCC::SignedGreaterThan,
            (Comparison::Greater, false) => IntCC::UnsignedGreaterThan,
            (Comparison::GreaterEqual, true) => IntCC::SignedGreaterThanOrEqual,
            (Comparison::GreaterEqual, false) => IntCC::UnsignedGreaterThanOrEqual,
            _ => return self.unmodelled(),
        };
        let holds = self.builder.ins().icmp(condition, a, b);
        Ok(self.builder.ins().uextend(types::I64, holds))
    }

    pub(super) fn combined(&mut self, outcome: Value, combine: Option<Combine>) -> Value {
        let Some(combine) = combine else { return outcome };
        let with = self.truth(combine.with);
        match combine.op {
            BoolOp::And => self.builder.ins().band(outcome, with),
            BoolOp::Or => self.builder.ins().bor(outcome, with),
            BoolOp::Xor => self.builder.ins().bxor(outcome, with),
        }
    }
}
