//! `cvt` between integers.

use cranelift_codegen::ir::{InstBuilder, types};
use peermap_ptx::instruction::Conversion;
use peermap_ptx::{RegisterId, Source};

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
        if to.is_float() || from.is_float() || saturate {
            return self.not_modelled(format!(
                "cvt{}{}{}",
                if saturate { ".sat" } else { "" },
                to.directive(),
                from.directive()
            ));
        }
        let value = self.integer(source, from.bits(), from.is_signed());
        let wide = match self.builder.func.dfg.value_type(value) {
            types::I64 => value,
            _ if from.is_signed() => self.builder.ins().sextend(types::I64, value),
            _ => self.builder.ins().uextend(types::I64, value),
        };
        let kept = self.cut(wide, to.bits());
        self.write(destination, kept, to.bits(), to.is_signed());
        Ok(())
    }
}
