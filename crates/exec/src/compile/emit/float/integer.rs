//! Numbers from integers, and integers from numbers.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::{Conversion, Rounding};
use peermap_ptx::{RegisterId, ScalarType, Source};

use super::super::arithmetic::host_type;
use super::super::emitter::Emitter;
use super::number::native_type;
use crate::float::{Format, Function, Request};

impl Emitter<'_, '_> {
    /// `cvt` of an integer to a number.
    pub(in super::super) fn convert_from_integer(
        &mut self,
        conversion: Conversion,
        to: Format,
        destination: RegisterId,
        source: Source,
    ) {
        let (from, rounding) = (conversion.from, conversion.rounding.unwrap_or(Rounding::NearestEven));
        let integer = self.integer(source, from.bits(), from.is_signed());
        let number = match (to, rounding) {
            (Format::F32 | Format::F64, Rounding::NearestEven) => {
                let native = match from.is_signed() {
                    true => self.builder.ins().fcvt_from_sint(native_type(to), integer),
                    false => self.builder.ins().fcvt_from_uint(native_type(to), integer),
                };
                self.bits_of(native)
            }
            _ => {
                let function = if from.is_signed() { Function::FromSigned } else { Function::FromUnsigned };
                let wide = self.widened_integer(integer, from.is_signed());
                self.ask(Request { function, from: Format::F64, to, rounding, flush: false }, &[wide])
            }
        };
        let result = if conversion.saturate { self.saturated_number(to, number) } else { number };
        self.write(destination, result, to.bits(), false);
    }

    fn widened_integer(&mut self, integer: Value, signed: bool) -> Value {
        match self.builder.func.dfg.value_type(integer) {
            types::I64 => integer,
            _ if signed => self.builder.ins().sextend(types::I64, integer),
            _ => self.builder.ins().uextend(types::I64, integer),
        }
    }

    /// `cvt` of a number to an integer, cut off at the ends of its range. NaN is zero; where 64 bits are read or made it
    /// is the integer whose highest bit alone is set.
    pub(in super::super) fn convert_to_integer(
        &mut self,
        conversion: Conversion,
        from: Format,
        destination: RegisterId,
        source: Source,
    ) {
        let to = conversion.to;
        let number = self.integer(source, from.bits(), false);
        let seen = self.flushed(from, conversion.ftz, number);
        let whole = self.whole_native(from, conversion.rounding.unwrap_or(Rounding::Zero), seen);
        let host = host_type(to.bits());
        let integer = match to.is_signed() {
            true => self.builder.ins().fcvt_to_sint_sat(host, whole),
            false => self.builder.ins().fcvt_to_uint_sat(host, whole),
        };
        let integer = self.cut_off(integer, to);
        let result = if from == Format::F64 || to.bits() == 64 {
            let is_nan = self.is_nan(from, number);
            let highest = self.constant(host, 1_i64 << (to.bits() - 1));
            self.builder.ins().select(is_nan, highest, integer)
        } else {
            integer
        };
        self.write(destination, result, to.bits(), to.is_signed());
    }

    /// An integer of 32 bits, cut off at the ends of the range of a type that has less.
    fn cut_off(&mut self, integer: Value, to: ScalarType) -> Value {
        let bits = to.bits();
        if bits >= 32 {
            return integer;
        }
        let most = self.constant(types::I32, (1 << (bits - u32::from(to.is_signed()))) - 1);
        if !to.is_signed() {
            return self.builder.ins().umin(integer, most);
        }
        let least = self.constant(types::I32, -1 << (bits - 1));
        let at_least = self.builder.ins().smax(integer, least);
        self.builder.ins().smin(at_least, most)
    }
}
