//! `cvt` between integers.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::Conversion;
use peermap_ptx::{RegisterId, ScalarType, Source};

use super::emitter::Emitter;
use crate::error::CompileError;

impl Emitter<'_, '_> {
    pub(super) fn convert(
        &mut self,
        conversion: Conversion,
        destination: RegisterId,
        source: Source,
    ) -> Result<(), CompileError> {
        let Conversion { to, from, saturate, .. } = conversion;
        if to.is_float() || from.is_float() {
            return self.not_modelled(format!("cvt{}{}", to.directive(), from.directive()));
        }
        let value = self.integer(source, from.bits(), from.is_signed());
        let wide = match self.builder.func.dfg.value_type(value) {
            types::I64 => value,
            _ if from.is_signed() => self.builder.ins().sextend(types::I64, value),
            _ => self.builder.ins().uextend(types::I64, value),
        };
        let wide = if saturate { self.cut_off(wide, to, from) } else { wide };
        let kept = self.cut(wide, to.bits());
        self.write(destination, kept, to.bits(), to.is_signed());
        Ok(())
    }

    /// A number that was widened to 64 bits as one of type `from`, cut off at the ends of the range of `to`.
    fn cut_off(&mut self, value: Value, to: ScalarType, from: ScalarType) -> Value {
        let most = u64::MAX >> (64 - to.bits()) >> u32::from(to.is_signed());
        if !from.is_signed() {
            let most = self.constant(types::I64, most.cast_signed());
            return self.builder.ins().umin(value, most);
        }
        // Of the wide types only one without a sign holds more than a signed number is, and that at the lower end.
        let least = if to.is_signed() { -1 - most.cast_signed() } else { 0 };
        self.clamped(value, least, i64::try_from(most).unwrap_or(i64::MAX))
    }
}
