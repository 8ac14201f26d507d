//! What is computed exactly and rounded once.

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

/// Operands of `f64` in the order in which their NaN wins, as measured: a sum and a product take the later one, a product
/// and a sum in one step take the factors' later one before the summand, and a quotient takes the dividend.
fn by_weight(function: Function, operands: &[Value]) -> Vec<Value> {
    match (function, operands) {
        (Function::MultiplyAdd, [a, b, c]) => vec![*b, *c, *a],
        (Function::Divide, _) => operands.to_vec(),
        _ => operands.iter().rev().copied().collect(),
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
        let request = Request { function, from: format, to: format, rounding: how.rounding, flush: how.ftz };
        let is_by_host = matches!(format, Format::F32 | Format::F64) && how.rounding == Rounding::NearestEven;
        let result = match is_by_host {
            true if how.ftz => self.flushed_by_host(request, operands),
            true => {
                let result = self.by_host(request, operands);
                self.settled(format, result, &by_weight(function, operands))
            }
            false => {
                let result = self.ask(request, operands);
                if format == Format::F64 {
                    self.settled(format, result, &by_weight(function, operands))
                } else {
                    result
                }
            }
        };
        let result = if how.saturate { self.saturated_number(format, result) } else { result };
        if how.relu { self.rectified(format, result) } else { result }
    }

    /// `.ftz`: what is subnormal, or the smallest number that is not and may have been rounded to it, is left to a call.
    fn flushed_by_host(&mut self, request: Request, operands: &[Value]) -> Value {
        let format = request.to;
        let result = self.by_host(request, operands);
        let (is_nan, is_small) =
            (self.is_nan(format, result), self.is_at_most(format, result, format.smallest_normal()));
        let mut is_rare = self.builder.ins().bor(is_nan, is_small);
        for operand in operands {
            let is_subnormal = self.is_at_most(format, *operand, format.smallest_normal() - 1);
            is_rare = self.builder.ins().bor(is_rare, is_subnormal);
        }
        self.rarely(is_rare, result, |emitter| emitter.ask(request, operands))
    }

    /// What the host computes, whatever NaN it is.
    fn by_host(&mut self, request: Request, operands: &[Value]) -> Value {
        let Request { function, from, .. } = request;
        let operands: Vec<Value> = operands.iter().map(|operand| self.native(from, *operand)).collect();
        let result = match (function, operands.as_slice()) {
            (Function::Add, [a, b]) => self.builder.ins().fadd(*a, *b),
            (Function::Subtract, [a, b]) => self.builder.ins().fsub(*a, *b),
            (Function::Multiply, [a, b]) => self.builder.ins().fmul(*a, *b),
            (Function::MultiplyAdd, [a, b, c]) => self.builder.ins().fma(*a, *b, *c),
            (Function::Divide, [a, b]) => self.builder.ins().fdiv(*a, *b),
            (Function::Root, [a]) => self.builder.ins().sqrt(*a),
            _ => unreachable!("{function:?} of {} numbers is no instruction of the host", operands.len()),
        };
        self.bits_of(result)
    }

    /// A result with the NaN that the hardware gives: for `f64` that of the first of these operands that is one, made
    /// quiet; else always the same.
    pub(super) fn settled(&mut self, format: Format, raw: Value, operands: &[Value]) -> Value {
        let is_nan = self.is_nan(format, raw);
        self.rarely(is_nan, raw, |emitter| {
            let mut nan = emitter.number(format, format.nan());
            for operand in operands.iter().rev().filter(|_| format == Format::F64) {
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
