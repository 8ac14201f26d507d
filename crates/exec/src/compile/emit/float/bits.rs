//! What looks at the bits of numbers alone.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use peermap_ptx::instruction::FloatTest;
use peermap_ptx::{FloatType, RegisterId, Source};

use super::super::emitter::Emitter;
use super::number::host;
use crate::float::Format;

impl Emitter<'_, '_> {
    pub(super) fn masked(&mut self, format: Format, number: Value, mask: u64) -> Value {
        let mask = self.number(format, mask);
        self.builder.ins().band(number, mask)
    }

    /// How the magnitude of a number compares with that of a constant.
    pub(super) fn magnitude_is(&mut self, format: Format, number: Value, relation: IntCC, bits: u64) -> Value {
        let magnitude = self.masked(format, number, format.magnitude());
        let bits = self.number(format, bits);
        self.builder.ins().icmp(relation, magnitude, bits)
    }

    pub(super) fn is_nan(&mut self, format: Format, number: Value) -> Value {
        self.magnitude_is(format, number, IntCC::UnsignedGreaterThan, format.infinity())
    }

    pub(super) fn is_infinite(&mut self, format: Format, number: Value) -> Value {
        self.magnitude_is(format, number, IntCC::Equal, format.infinity())
    }

    /// Whether a number is not zero and its magnitude no more than that of a constant.
    pub(super) fn is_at_most(&mut self, format: Format, number: Value, bits: u64) -> Value {
        let magnitude = self.masked(format, number, format.magnitude());
        let less_one = self.builder.ins().iadd_imm_s(magnitude, -1);
        let bits = self.number(format, bits);
        self.builder.ins().icmp(IntCC::UnsignedLessThan, less_one, bits)
    }

    fn is_negative(&mut self, format: Format, number: Value) -> Value {
        let sign = self.masked(format, number, format.sign());
        self.builder.ins().icmp_imm_u(IntCC::NotEqual, sign, 0)
    }

    /// A number, or a zero of its sign if it is subnormal and `ftz` says so.
    pub(super) fn flushed(&mut self, format: Format, ftz: bool, number: Value) -> Value {
        if !ftz {
            return number;
        }
        let is_subnormal = self.is_at_most(format, number, format.smallest_normal() - 1);
        self.rarely(is_subnormal, number, |emitter| emitter.masked(format, number, format.sign()))
    }

    /// A number cut off at 0.0 and 1.0; NaN is 0.0, and so is a zero that is negative.
    pub(super) fn saturated_number(&mut self, format: Format, number: Value) -> Value {
        let one = self.number(format, format.one());
        let at_most_one = self.builder.ins().umin(number, one);
        let (is_nan, is_negative) = (self.is_nan(format, number), self.is_negative(format, number));
        let is_zero = self.builder.ins().bor(is_nan, is_negative);
        let zero = self.number(format, 0);
        self.builder.ins().select(is_zero, zero, at_most_one)
    }

    /// A number, or zero if it is negative.
    pub(super) fn rectified(&mut self, format: Format, number: Value) -> Value {
        let is_negative = self.is_negative(format, number);
        let zero = self.number(format, 0);
        self.builder.ins().select(is_negative, zero, number)
    }

    /// A number, or the NaN that the hardware makes instead of any.
    pub(super) fn canonical(&mut self, format: Format, number: Value) -> Value {
        let is_nan = self.is_nan(format, number);
        let nan = self.number(format, format.nan());
        self.builder.ins().select(is_nan, nan, number)
    }

    /// `neg` and `abs`. A NaN of `f64` keeps its sign and is made quiet; any other becomes the canonical one.
    pub(super) fn change_sign(
        &mut self,
        ty: FloatType,
        ftz: bool,
        destination: RegisterId,
        source: Source,
        change: impl Fn(&mut Self, Value, Value) -> Value,
    ) {
        self.elementwise(ty, destination, [source], |emitter, format, [number]| {
            let seen = emitter.flushed(format, ftz, number);
            let sign = emitter.number(format, format.sign());
            let changed = change(emitter, seen, sign);
            let is_nan = emitter.is_nan(format, number);
            let nan = match format {
                Format::F64 => emitter.quiet(format, number),
                _ => emitter.number(format, format.nan()),
            };
            emitter.builder.ins().select(is_nan, nan, changed)
        });
    }

    pub(super) fn copy_sign(&mut self, ty: FloatType, destination: RegisterId, a: Source, b: Source) {
        self.elementwise(ty, destination, [a, b], |emitter, format, [a, b]| {
            let sign = emitter.masked(format, a, format.sign());
            let rest = emitter.masked(format, b, format.magnitude());
            emitter.builder.ins().bor(sign, rest)
        });
    }

    /// `testp`. Zero is a normal number here.
    pub(super) fn test_number(&mut self, test: FloatTest, ty: FloatType, destination: RegisterId, source: Source) {
        let format = Format::of(ty);
        let number = self.integer(source, ty.bits(), false);
        let (infinity, smallest) = (format.infinity(), format.smallest_normal());
        let mut is = |relation, bits| self.magnitude_is(format, number, relation, bits);
        let outcome = match test {
            FloatTest::Finite => is(IntCC::UnsignedLessThan, infinity),
            FloatTest::Infinite => is(IntCC::Equal, infinity),
            FloatTest::Number => is(IntCC::UnsignedLessThanOrEqual, infinity),
            FloatTest::NotANumber => is(IntCC::UnsignedGreaterThan, infinity),
            FloatTest::Normal => {
                let (finite, large) =
                    (is(IntCC::UnsignedLessThan, infinity), is(IntCC::UnsignedGreaterThanOrEqual, smallest));
                let zero = is(IntCC::Equal, 0);
                let normal = self.builder.ins().band(finite, large);
                self.builder.ins().bor(normal, zero)
            }
            FloatTest::Subnormal => {
                let (small, some) = (is(IntCC::UnsignedLessThan, smallest), is(IntCC::NotEqual, 0));
                self.builder.ins().band(small, some)
            }
        };
        self.write(destination, outcome, 1, false);
    }

    /// A number as an integer that is the larger the larger the number is; -0.0 is smaller than 0.0. For numbers alone.
    pub(super) fn rank(&mut self, format: Format, number: Value) -> Value {
        let ty = host(format);
        let top = self.builder.ins().ishl_imm_u(number, i64::from(ty.bits() - format.bits()));
        let sign = self.builder.ins().sshr_imm_u(top, i64::from(ty.bits() - 1));
        let others = self.builder.ins().ushr_imm_u(sign, 1);
        self.builder.ins().bxor(top, others)
    }
}
