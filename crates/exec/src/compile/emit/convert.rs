//! `cvt`, between integers and in all other forms.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::Conversion;
use peermap_ptx::{FloatType, RegisterId, ScalarType, Source};

use super::emitter::Emitter;
use crate::error::CompileError;
use crate::float::Format;

impl Emitter<'_, '_> {
    pub(super) fn convert(
        &mut self,
        conversion: Conversion,
        destination: RegisterId,
        a: Source,
        b: Option<Source>,
    ) -> Result<(), CompileError> {
        let Conversion { to, from, .. } = conversion;
        match (Format::of_scalar(from), Format::of_scalar(to), FloatType::of(to), b) {
            (_, None, Some(ty), Some(b)) => self.convert_to_pair(conversion, ty, destination, a, b),
            (Some(_), None, ..) if to == ScalarType::Tf32 => self.convert_to_tf32(conversion, destination, a),
            (Some(from), Some(to), ..) => self.convert_number(conversion, [from, to], destination, a),
            (Some(from), None, None, None) => self.convert_to_integer(conversion, from, destination, a),
            (None, Some(to), ..) => self.convert_from_integer(conversion, to, destination, a),
            (None, None, None, None) => self.convert_integer(conversion, destination, a),
            _ => return self.unmodelled(),
        }
        Ok(())
    }

    fn convert_integer(&mut self, conversion: Conversion, destination: RegisterId, source: Source) {
        let Conversion { to, from, saturate, .. } = conversion;
        let value = self.integer(source, from.bits(), from.is_signed());
        let wide = match self.builder.func.dfg.value_type(value) {
            types::I64 => value,
            _ if from.is_signed() => self.builder.ins().sextend(types::I64, value),
            _ => self.builder.ins().uextend(types::I64, value),
        };
        let inside = if saturate { self.within(wide, from.is_signed(), to.bits(), to.is_signed()) } else { wide };
        let kept = self.cut(inside, to.bits());
        self.write(destination, kept, to.bits(), to.is_signed());
    }

    /// An integer of 64 bits, cut off at the ends of the range of another type.
    pub(super) fn within(&mut self, integer: Value, from_signed: bool, bits: u32, to_signed: bool) -> Value {
        let most = self.constant(types::I64, (u64::MAX >> (64 - bits + u32::from(to_signed))).cast_signed());
        if !from_signed {
            return self.builder.ins().umin(integer, most);
        }
        let least = self.constant(types::I64, if to_signed { -1 << (bits - 1) } else { 0 });
        let at_least = self.builder.ins().smax(integer, least);
        // What is not negative is the same number with a sign and without.
        match to_signed {
            true => self.builder.ins().smin(at_least, most),
            false => self.builder.ins().umin(at_least, most),
        }
    }
}
