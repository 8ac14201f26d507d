//! `setp` and `set` of integers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::{BoolOp, Combine, Comparison, Set, SetPredicate};
use peermap_ptx::{ScalarType, Source};

use super::emitter::Emitter;
use crate::error::CompileError;

impl Emitter<'_, '_> {
    pub(super) fn set_predicate(&mut self, set: &SetPredicate) -> Result<(), CompileError> {
        let outcome = self.compared(set.comparison, set.ty, set.a, set.b)?;
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
        let outcome = self.compared(set.comparison, set.ty, set.a, set.b)?;
        let outcome = self.combined(outcome, set.combine);
        let result = match set.to {
            ScalarType::F32 => {
                let (one, zero) = (self.constant(types::I32, i64::from(1_f32.to_bits())), self.constant(types::I32, 0));
                self.builder.ins().select(outcome, one, zero)
            }
            to if to.is_float() => return self.not_modelled("set to a half"),
            _ => self.builder.ins().ineg(outcome),
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
        a: Source,
        b: Source,
    ) -> Result<Value, CompileError> {
        if ty.is_float() || matches!(ty, ScalarType::U16x2 | ScalarType::S16x2) {
            return self.not_modelled(format!("a comparison of {}", ty.directive()));
        }
        let (a, b) = (self.integer(a, ty.bits(), ty.is_signed()), self.integer(b, ty.bits(), ty.is_signed()));
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
            _ => return self.not_modelled("an unordered comparison of integers"),
        };
        let holds = self.builder.ins().icmp(condition, a, b);
        Ok(self.builder.ins().uextend(types::I64, holds))
    }

    fn combined(&mut self, outcome: Value, combine: Option<Combine>) -> Value {
        let Some(combine) = combine else { return outcome };
        let with = self.truth(combine.with);
        match combine.op {
            BoolOp::And => self.builder.ins().band(outcome, with),
            BoolOp::Or => self.builder.ins().bor(outcome, with),
            BoolOp::Xor => self.builder.ins().bxor(outcome, with),
        }
    }
}
