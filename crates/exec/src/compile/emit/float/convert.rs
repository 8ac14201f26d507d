//! Numbers from other numbers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use peermap_ptx::instruction::{Conversion, Rounding};
use peermap_ptx::{FloatType, RegisterId, ScalarType, Source};

use super::super::emitter::Emitter;
use crate::float::{Format, Function, Request};

/// The bits of an `f32` that a `tf32` does not have.
const BELOW_TF32: u64 = 0x1FFF;

impl Emitter<'_, '_> {
    /// `cvt` from one format to another, or to a whole number of the same.
    pub(in super::super) fn convert_number(
        &mut self,
        conversion: Conversion,
        [from, to]: [Format; 2],
        destination: RegisterId,
        source: Source,
    ) {
        let number = self.integer(source, from.bits(), false);
        let result = self.converted(conversion, from, to, number);
        self.write(destination, result, to.bits(), false);
    }

    /// `cvt` of two `f32` to a pair.
    pub(in super::super) fn convert_to_pair(
        &mut self,
        conversion: Conversion,
        ty: FloatType,
        destination: RegisterId,
        high: Source,
        low: Source,
    ) {
        let [low, high] = [low, high].map(|source| {
            let number = self.integer(source, 32, false);
            self.converted(conversion, Format::F32, Format::of(ty), number)
        });
        let pair = self.joined(Format::of(ty), low, high);
        self.write(destination, pair, 32, false);
    }

    fn converted(&mut self, conversion: Conversion, from: Format, to: Format, number: Value) -> Value {
        let Conversion { integral, ftz, saturate, relu, satfinite, .. } = conversion;
        let rounding = conversion.rounding.unwrap_or(Rounding::NearestEven);
        // Only `f32` is flushed, on either side.
        let seen = match ftz && from == Format::F32 {
            true => {
                let flushed = self.flushed(from, true, number);
                self.canonical(from, flushed)
            }
            false => number,
        };
        let raw = match integral {
            true => self.whole(from, rounding, seen),
            false => {
                let result = self.reformatted(from, to, rounding, seen);
                match ftz && from == Format::F64 {
                    true => self.without_small(from, to, rounding, seen, result),
                    false => result,
                }
            }
        };
        // The hardware moves the bits, or keeps what tells one NaN of `f64` from another.
        let moves = matches!((from, to), (Format::F32 | Format::Bf16, Format::F32)) && !integral && !ftz;
        let settled = match (from, to) {
            _ if moves || to == Format::F64 => raw,
            (Format::F64, _) => self.with_carried_nan(to, number, raw),
            _ => self.canonical(to, raw),
        };
        let result = self.flushed(to, ftz && from == Format::Bf16 && to == Format::F32, settled);
        let result = if satfinite { self.finite(to, result, to.infinity() - 1) } else { result };
        let result = if saturate { self.saturated_number(to, result) } else { result };
        match relu {
            true => {
                let canonical = self.canonical(to, result);
                self.rectified(to, canonical)
            }
            false => result,
        }
    }

    /// What an `f64` was made into, or, if it is a NaN, one with its sign and what fits of its other bits, made quiet.
    fn with_carried_nan(&mut self, to: Format, number: Value, result: Value) -> Value {
        let from = Format::F64;
        let is_nan = self.is_nan(from, number);
        self.rarely(is_nan, result, |emitter| {
            let sign = emitter.masked(from, number, from.sign());
            let sign = emitter.builder.ins().ushr_imm_u(sign, i64::from(from.bits() - to.bits()));
            let rest = emitter.masked(from, number, from.quiet() - 1);
            let rest = emitter.builder.ins().ushr_imm_u(rest, i64::from(from.fraction_bits() - to.fraction_bits()));
            let bits = emitter.builder.ins().bor(sign, rest);
            let bits = emitter.low(bits, to.bits(), false);
            let quiet = emitter.number(to, to.infinity() | to.quiet());
            emitter.builder.ins().bor(bits, quiet)
        })
    }

    /// What a number is rounded to; what is small is left to a call, which makes subnormal ones zero.
    fn without_small(&mut self, from: Format, to: Format, rounding: Rounding, number: Value, result: Value) -> Value {
        let request = Request { function: Function::Convert, from, to, rounding, flush: true };
        let is_small = self.is_at_most(to, result, to.smallest_normal());
        self.rarely(is_small, result, |emitter| emitter.ask(request, &[number]))
    }

    /// A number, or the largest of its sign if it is infinite.
    fn finite(&mut self, format: Format, number: Value, largest: u64) -> Value {
        let is_infinite = self.is_infinite(format, number);
        let sign = self.masked(format, number, format.sign());
        let largest = self.number(format, largest);
        let signed = self.builder.ins().bor(sign, largest);
        self.builder.ins().select(is_infinite, signed, number)
    }

    /// A number rounded to a whole one, as the host's number.
    pub(super) fn whole_native(&mut self, format: Format, rounding: Rounding, number: Value) -> Value {
        let native = self.native(format, number);
        match rounding {
            Rounding::NearestEven | Rounding::NearestAway => self.builder.ins().nearest(native),
            Rounding::Zero => self.builder.ins().trunc(native),
            Rounding::Down => self.builder.ins().floor(native),
            Rounding::Up => self.builder.ins().ceil(native),
        }
    }

    fn whole(&mut self, format: Format, rounding: Rounding, number: Value) -> Value {
        let whole = self.whole_native(format, rounding, number);
        let bits = self.bits_of(whole);
        let computed = if format == Format::F64 { format } else { Format::F32 };
        self.reformatted(computed, format, Rounding::NearestEven, bits)
    }

    /// `cvt` of an `f32` to a `tf32`: an `f32` whose low bits are zero.
    pub(in super::super) fn convert_to_tf32(
        &mut self,
        conversion: Conversion,
        destination: RegisterId,
        source: Source,
    ) {
        let format = Format::F32;
        let number = self.integer(source, ScalarType::F32.bits(), false);
        let raised = match conversion.rounding {
            Some(Rounding::Zero) => number,
            Some(Rounding::NearestAway) => self.builder.ins().iadd_imm_s(number, (BELOW_TF32 / 2 + 1).cast_signed()),
            _ => {
                let last = self.builder.ins().ushr_imm_u(number, i64::from(BELOW_TF32.count_ones()));
                let odd = self.builder.ins().band_imm_s(last, 1);
                let half = self.builder.ins().iadd_imm_s(odd, (BELOW_TF32 / 2).cast_signed());
                self.builder.ins().iadd(number, half)
            }
        };
        let magnitude = self.masked(format, number, format.magnitude());
        let infinity = self.number(format, format.infinity());
        let is_finite = self.builder.ins().icmp(IntCC::UnsignedLessThan, magnitude, infinity);
        // To nearest and away from zero is done bit by bit, so that a NaN keeps those that remain.
        let canonical = match conversion.rounding {
            Some(Rounding::NearestAway) => number,
            _ => self.canonical(format, number),
        };
        let raised = self.builder.ins().select(is_finite, raised, canonical);
        let result = self.masked(format, raised, !BELOW_TF32 & u64::from(u32::MAX));
        let largest = (format.infinity() - 1) & !BELOW_TF32;
        let result = if conversion.satfinite { self.finite(format, result, largest) } else { result };
        let result = if conversion.relu { self.rectified(format, result) } else { result };
        self.write(destination, result, 32, false);
    }
}
