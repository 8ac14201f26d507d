//! The smaller and the larger of numbers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use peermap_ptx::instruction::FloatMinMax;
use peermap_ptx::{RegisterId, Source};

use super::super::emitter::Emitter;
use crate::float::Format;

impl Emitter<'_, '_> {
    /// `min` and `max` of two or three numbers.
    pub(super) fn float_extreme<const N: usize>(
        &mut self,
        how: FloatMinMax,
        largest: bool,
        destination: RegisterId,
        sources: [Source; N],
    ) {
        self.elementwise(how.ty, destination, sources, |emitter, format, operands| {
            let seen = operands.map(|operand| emitter.flushed(format, how.ftz, operand));
            let compared = seen.map(|number| match how.abs {
                true => emitter.masked(format, number, format.magnitude()),
                false => number,
            });
            let first = compared[0];
            let found = compared[1..]
                .iter()
                .fold(first, |found, next| emitter.more_extreme(format, how.nan, largest, found, *next));
            match (how.xorsign, seen.as_slice()) {
                (true, [a, b]) => emitter.with_product_of_signs(format, found, *a, *b),
                _ => found,
            }
        });
    }

    /// Of two numbers, -0.0 is less than 0.0. One NaN counts only if `nan` says so; of two of `f64`, the second does.
    fn more_extreme(&mut self, format: Format, nan: bool, largest: bool, a: Value, b: Value) -> Value {
        let (rank_a, rank_b) = (self.rank(format, a), self.rank(format, b));
        let relation = if largest { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
        let is_first = self.builder.ins().icmp(relation, rank_a, rank_b);
        let chosen = self.builder.ins().select(is_first, a, b);
        let (a_is_nan, b_is_nan) = (self.is_nan(format, a), self.is_nan(format, b));
        let result = self.builder.ins().select(b_is_nan, a, chosen);
        let result = self.builder.ins().select(a_is_nan, b, result);
        let is_nan = match nan {
            true => self.builder.ins().bor(a_is_nan, b_is_nan),
            false => self.builder.ins().band(a_is_nan, b_is_nan),
        };
        let nan = match format {
            Format::F64 => self.quiet(format, b),
            _ => self.number(format, format.nan()),
        };
        self.builder.ins().select(is_nan, nan, result)
    }

    fn with_product_of_signs(&mut self, format: Format, number: Value, a: Value, b: Value) -> Value {
        let signs = self.builder.ins().bxor(a, b);
        let sign = self.masked(format, signs, format.sign());
        let magnitude = self.masked(format, number, format.magnitude());
        let signed = self.builder.ins().bor(magnitude, sign);
        let is_nan = self.is_nan(format, number);
        self.builder.ins().select(is_nan, number, signed)
    }
}
