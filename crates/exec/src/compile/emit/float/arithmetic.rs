//! What is computed exactly and rounded once.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use peermap_ptx::instruction::Rounding;
use peermap_ptx::{FloatType, RegisterId, Source};

use super::super::emitter::Emitter;
use crate::float::{Format, Function, Request};

/// How an exact result becomes a number.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) rounding: Rounding,
    /// Subnormal numbers, read or made, are zero.
    pub(super) ftz: bool,
    pub(super) saturate: bool,
    /// At least zero.
    pub(super) relu: bool,
}

impl How {
    /// Rounded and nothing else.
    pub(super) fn rounded(rounding: Rounding, ftz: bool) -> Self {
        Self { rounding, ftz, saturate: false, relu: false }
    }
}

impl Emitter<'_, '_> {
    pub(super) fn float_arithmetic<const N: usize>(
        &mut self,
        function: Function,
        ty: FloatType,
        how: How,
        destination: RegisterId,
        sources: [Source; N],
    ) {
        self.elementwise(ty, destination, sources, |emitter, format, operands| {
            emitter.rounded(function, format, how, &operands)
        });
    }

    /// `rcp` with a rounding.
    pub(super) fn reciprocal_rounded(&mut self, ty: FloatType, how: How, destination: RegisterId, source: Source) {
        self.elementwise(ty, destination, [source], |emitter, format, [number]| {
            let one = emitter.number(format, format.one());
            emitter.rounded(Function::Divide, format, how, &[one, number])
        });
    }

    /// The same with operands of which all but the last are halves.
    pub(super) fn mixed_arithmetic<const N: usize>(
        &mut self,
        function: Function,
        half: FloatType,
        how: How,
        destination: RegisterId,
        sources: [Source; N],
    ) {
        let mut operands = Vec::with_capacity(N);
        for source in &sources[..N - 1] {
            let narrow = self.integer(*source, 16, false);
            operands.push(self.reformatted(Format::of(half), Format::F32, how.rounding, narrow));
        }
        operands.push(self.integer(sources[N - 1], 32, false));
        let result = self.rounded(function, Format::F32, how, &operands);
        self.write(destination, result, 32, false);
    }

    pub(super) fn rounded(&mut self, function: Function, format: Format, how: How, operands: &[Value]) -> Value {
        let seen: Vec<Value> = operands.iter().map(|operand| self.flushed(format, how.ftz, *operand)).collect();
        let raw = self.raw(function, format, how, &seen);
        let settled = self.settled(format, raw, &seen);
        let result = self.flushed(format, how.ftz, settled);
        let result = if how.saturate { self.saturated_number(format, result) } else { result };
        if how.relu { self.rectified(format, result) } else { result }
    }

    /// The rounded result, whatever NaN it is.
    fn raw(&mut self, function: Function, format: Format, how: How, operands: &[Value]) -> Value {
        let How { rounding, ftz, .. } = how;
        let request = Request { function, from: format, to: format, rounding, flush: ftz };
        let to_nearest = rounding == Rounding::NearestEven;
        match format {
            Format::F32 | Format::F64 if to_nearest => {
                let result = self.by_host(function, format, operands);
                let result = self.bits_of(result);
                self.decided(request, result, operands)
            }
            // The sum and the product of two halves, rounded to `f32` first, is the same: that has more than twice as
            // many bits.
            Format::F16 | Format::Bf16 if to_nearest && function != Function::MultiplyAdd => {
                let result = self.by_host(function, format, operands);
                let wide = self.bits_of(result);
                let result = self.reformatted(Format::F32, format, rounding, wide);
                self.decided(request, result, operands)
            }
            _ => self.ask(request, operands),
        }
    }

    /// With `.ftz`, a result which is the smallest normal number may have been rounded to it from below: whether it is
    /// flushed is decided by what it was. Sums that small are exact.
    pub(super) fn decided(&mut self, request: Request, result: Value, operands: &[Value]) -> Value {
        let Request { function, to, flush, .. } = request;
        if !flush || matches!(function, Function::Add | Function::Subtract | Function::Root) {
            return result;
        }
        let is_smallest = self.magnitude_is(to, result, IntCC::Equal, to.smallest_normal());
        self.rarely(is_smallest, result, |emitter| emitter.ask(request, operands))
    }

    /// A value, or, where a condition holds, which is rare, what is computed instead.
    fn rarely(&mut self, condition: Value, value: Value, compute: impl FnOnce(&mut Self) -> Value) -> Value {
        let (rare, done) = (self.builder.create_block(), self.builder.create_block());
        let ty = self.builder.func.dfg.value_type(value);
        let result = self.builder.append_block_param(done, ty);
        self.builder.ins().brif(condition, rare, &[], done, &[value.into()]);
        self.builder.set_cold_block(rare);
        self.builder.switch_to_block(rare);
        let other = compute(self);
        self.builder.ins().jump(done, &[other.into()]);
        self.builder.switch_to_block(done);
        result
    }

    fn by_host(&mut self, function: Function, format: Format, operands: &[Value]) -> Value {
        let operands: Vec<Value> = operands.iter().map(|operand| self.native(format, *operand)).collect();
        match (function, operands.as_slice()) {
            (Function::Add, [a, b]) => self.builder.ins().fadd(*a, *b),
            (Function::Subtract, [a, b]) => self.builder.ins().fsub(*a, *b),
            (Function::Multiply, [a, b]) => self.builder.ins().fmul(*a, *b),
            (Function::MultiplyAdd, [a, b, c]) => self.builder.ins().fma(*a, *b, *c),
            (Function::Divide, [a, b]) => self.builder.ins().fdiv(*a, *b),
            (Function::Root, [a]) => self.builder.ins().sqrt(*a),
            _ => unreachable!("{function:?} of {} numbers is no instruction of the host", operands.len()),
        }
    }

    /// A result with the NaN that the hardware gives: for `f64` that of the first operand that is one, made quiet; else
    /// always the same.
    pub(super) fn settled(&mut self, format: Format, raw: Value, operands: &[Value]) -> Value {
        if format != Format::F64 {
            return self.canonical(format, raw);
        }
        let is_nan = self.is_nan(format, raw);
        self.rarely(is_nan, raw, |emitter| {
            let mut nan = emitter.number(format, format.nan());
            for operand in operands.iter().rev() {
                let is_first = emitter.is_nan(format, *operand);
                let quiet = emitter.quiet(format, *operand);
                nan = emitter.builder.ins().select(is_first, quiet, nan);
            }
            nan
        })
    }

    pub(super) fn quiet(&mut self, format: Format, nan: Value) -> Value {
        let quiet = self.number(format, format.quiet());
        self.builder.ins().bor(nan, quiet)
    }
}
