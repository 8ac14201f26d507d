//! What PTX approximates: computed in `f64` and rounded once, which is well within the bounds of the manual.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use peermap_ptx::instruction::{Rounding, Transcendental};
use peermap_ptx::{FloatType, RegisterId, Source};

use super::super::emitter::Emitter;
use crate::float::{Format, Function, Request};

/// The upper half of an `f64`.
const UPPER: u64 = 0xFFFF_FFFF_0000_0000;

impl Emitter<'_, '_> {
    /// A function of numbers as `f64`.
    fn approximated<const N: usize>(
        &mut self,
        ty: FloatType,
        ftz: bool,
        destination: RegisterId,
        sources: [Source; N],
        compute: impl Fn(&mut Self, [Value; N]) -> Value,
    ) {
        self.elementwise(ty, destination, sources, |emitter, format, operands| {
            let seen = operands.map(|operand| emitter.flushed(format, ftz, operand));
            let wide = seen.map(|operand| emitter.reformatted(format, Format::F64, Rounding::NearestEven, operand));
            let native = wide.map(|operand| emitter.native(Format::F64, operand));
            let result = compute(emitter, native);
            let wide = emitter.bits_of(result);
            let narrow = emitter.reformatted(Format::F64, format, Rounding::NearestEven, wide);
            let settled = emitter.settled(format, narrow, &seen);
            emitter.flushed(format, ftz, settled)
        });
    }

    pub(super) fn approximate(
        &mut self,
        function: Transcendental,
        ty: FloatType,
        ftz: bool,
        destination: RegisterId,
        source: Source,
    ) {
        if function == Transcendental::ReciprocalSqrt && ty == FloatType::F64 && ftz {
            return self.by_upper_half(destination, source, Self::reciprocal_root);
        }
        self.approximated(ty, ftz, destination, [source], |emitter, [number]| {
            let function = match function {
                Transcendental::ReciprocalSqrt => return emitter.reciprocal_root(number),
                Transcendental::Sin => Function::Sin,
                Transcendental::Cos => Function::Cos,
                Transcendental::Log2 => Function::Log2,
                Transcendental::Exp2 => Function::Exp2,
                Transcendental::Tanh => Function::Tanh,
            };
            let (from, rounding) = (Format::F64, Rounding::NearestEven);
            let bits = emitter.bits_of(number);
            let result = emitter.ask(Request { function, from, to: from, rounding, flush: false }, &[bits]);
            emitter.native(from, result)
        });
    }

    fn reciprocal_root(&mut self, number: Value) -> Value {
        let root = self.builder.ins().sqrt(number);
        self.reciprocal(root)
    }

    fn reciprocal(&mut self, number: Value) -> Value {
        let one = self.builder.ins().f64const(1.0);
        self.builder.ins().fdiv(one, number)
    }

    pub(super) fn approximate_root(&mut self, ftz: bool, destination: RegisterId, source: Source) {
        self.approximated(FloatType::F32, ftz, destination, [source], |emitter, [number]| {
            emitter.builder.ins().sqrt(number)
        });
    }

    pub(super) fn approximate_reciprocal(&mut self, ty: FloatType, ftz: bool, destination: RegisterId, source: Source) {
        match ty {
            FloatType::F64 => self.by_upper_half(destination, source, Self::reciprocal),
            _ => self.approximated(ty, ftz, destination, [source], |emitter, [number]| emitter.reciprocal(number)),
        }
    }

    /// `.approx.ftz.f64`: a function of the upper half of a number, of whose result the upper half counts.
    fn by_upper_half(&mut self, destination: RegisterId, source: Source, compute: fn(&mut Self, Value) -> Value) {
        self.elementwise(FloatType::F64, destination, [source], |emitter, format, [number]| {
            let upper = emitter.masked(format, number, UPPER);
            let seen = emitter.flushed(format, true, upper);
            let native = emitter.native(format, seen);
            let result = compute(emitter, native);
            let bits = emitter.bits_of(result);
            let upper = emitter.masked(format, bits, UPPER);
            let flushed = emitter.flushed(format, true, upper);
            let is_nan = emitter.is_nan(format, bits);
            let nan = emitter.number(format, format.magnitude() & UPPER);
            emitter.builder.ins().select(is_nan, nan, flushed)
        });
    }

    /// `div.full`.
    pub(super) fn divide_full(&mut self, ftz: bool, destination: RegisterId, sources: [Source; 2]) {
        self.approximated(FloatType::F32, ftz, destination, sources, |emitter, [a, b]| {
            emitter.builder.ins().fdiv(a, b)
        });
    }

    /// `div.approx`: a product with the reciprocal, which is zero for the largest divisors.
    pub(super) fn divide_approximately(&mut self, ftz: bool, destination: RegisterId, sources: [Source; 2]) {
        /// 2 to the power of 126.
        const LARGE: f64 = f64::from_bits((1023 + 126) << 52);
        self.approximated(FloatType::F32, ftz, destination, sources, |emitter, [a, b]| {
            let magnitude = emitter.builder.ins().fabs(b);
            let large = emitter.builder.ins().f64const(LARGE);
            let is_large = emitter.builder.ins().fcmp(FloatCC::GreaterThan, magnitude, large);
            let zero = emitter.builder.ins().f64const(0.0);
            let zero = emitter.builder.ins().fcopysign(zero, b);
            let reciprocal = emitter.reciprocal(b);
            let [zero, reciprocal] = [zero, reciprocal].map(|number| emitter.bits_of(number));
            let factor = emitter.builder.ins().select(is_large, zero, reciprocal);
            let factor = emitter.native(Format::F64, factor);
            emitter.builder.ins().fmul(a, factor)
        });
    }
}
