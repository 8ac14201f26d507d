//! `mov`, and parameters.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::Load;
use peermap_ptx::{AddressBase, MoveSource, RegisterId, ScalarType, Sink, Source, Symbol};

use super::emitter::Emitter;
use crate::error::CompileError;

impl Emitter<'_, '_> {
    pub(super) fn move_value(
        &mut self,
        ty: ScalarType,
        destination: RegisterId,
        source: MoveSource,
    ) -> Result<(), CompileError> {
        let value = self.moved(source)?;
        let kept = self.cut(value, ty.bits());
        self.write(destination, kept, ty.bits(), false);
        Ok(())
    }

    /// `mov` of a vector: all is read before anything is written.
    pub(super) fn move_vector(
        &mut self,
        ty: ScalarType,
        destinations: &[Sink],
        sources: &[MoveSource],
    ) -> Result<(), CompileError> {
        let values = sources.iter().map(|source| self.moved(*source)).collect::<Result<Vec<_>, _>>()?;
        for (destination, value) in destinations.iter().zip(values) {
            if let Some(destination) = destination {
                let kept = self.cut(value, ty.bits());
                self.write(*destination, kept, ty.bits(), false);
            }
        }
        Ok(())
    }

    fn moved(&mut self, source: MoveSource) -> Result<Value, CompileError> {
        match source {
            MoveSource::Value(source) => Ok(self.integer(source, 64, false)),
            MoveSource::Special(special) => self.special_register(special),
            MoveSource::Symbol(symbol, offset) => Ok(self.address_of(symbol, offset)),
        }
    }

    pub(super) fn pack(&mut self, bits: u32, destination: RegisterId, sources: &[Source]) {
        let part = bits / sources.len() as u32;
        let mut whole = self.constant(types::I64, 0);
        for (place, source) in (0_u32..).zip(sources) {
            let value = self.integer(*source, 64, false);
            let value = self.cut(value, part);
            let moved = self.builder.ins().ishl_imm_u(value, i64::from(place * part));
            whole = self.builder.ins().bor(whole, moved);
        }
        self.write(destination, whole, bits, false);
    }

    pub(super) fn unpack(&mut self, bits: u32, destinations: &[Sink], source: Source) {
        let part = bits / destinations.len() as u32;
        let whole = self.integer(source, 64, false);
        for (place, destination) in (0_u32..).zip(destinations) {
            if let Some(destination) = destination {
                let moved = self.builder.ins().ushr_imm_u(whole, i64::from(place * part));
                let kept = self.cut(moved, part);
                self.write(*destination, kept, part, false);
            }
        }
    }

    /// `ld.param` of what the launch was given.
    pub(super) fn load_parameter(&mut self, load: &Load) -> Result<(), CompileError> {
        let AddressBase::Symbol(Symbol::Parameter(number)) = load.address.base else {
            return self.not_modelled("ld.param at an address that is computed");
        };
        let parameter = &self.surroundings.entry.params[number as usize];
        let size = load.ty.size();
        let start = i64::from(parameter.offset) + load.address.offset;
        for (place, destination) in (0..).zip(&load.destinations) {
            let start = start + place * i64::from(size);
            let inside = start >= 0 && start + i64::from(size) <= i64::from(self.surroundings.entry.parameter_bytes);
            let Some(ty) = cranelift_codegen::ir::Type::int_with_byte_size(size as u16).filter(|_| inside && size <= 8)
            else {
                return self.not_modelled(format!("ld.param of {size} bytes at offset {start}"));
            };
            if let Some(destination) = destination {
                let value = self.parameter(ty, start as u32);
                self.write(*destination, value, load.ty.bits(), load.ty.is_signed());
            }
        }
        Ok(())
    }
}
