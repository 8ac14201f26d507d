//! `mov`, and parameters.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::analysis::BlockShape;
use peermap_ptx::instruction::Load;
use peermap_ptx::{AddressBase, Axis, MoveSource, RegisterId, ScalarType, Sink, Source, SpecialRegister, Symbol};

use super::emitter::Emitter;
use crate::block::frame::Special;
use crate::error::CompileError;

impl Emitter<'_, '_> {
    pub(super) fn move_value(
        &mut self,
        ty: ScalarType,
        destination: RegisterId,
        source: MoveSource,
    ) -> Result<(), CompileError> {
        let value = match source {
            MoveSource::Value(source) => self.integer(source, 64, false),
            MoveSource::Special(special) => self.special_register(special)?,
            MoveSource::Symbol(symbol, offset) => self.address_of(symbol, offset),
        };
        let kept = self.cut(value, ty.bits());
        self.write(destination, kept, ty.bits(), false);
        Ok(())
    }

    fn special_register(&mut self, register: SpecialRegister) -> Result<Value, CompileError> {
        use SpecialRegister as S;
        let special = match register {
            S::Tid(Axis::X) => return Ok(self.tid_x()),
            S::Tid(axis @ (Axis::Y | Axis::Z)) if self.surroundings.shape == BlockShape::Any => {
                return Ok(self.tid(if axis == Axis::Y { 1 } else { 2 }));
            }
            S::Tid(_) => return Ok(self.constant(types::I64, 0)),
            S::LaneId => return Ok(self.lane_id()),
            S::WarpId => {
                let lane = self.linear_lane();
                return Ok(self.builder.ins().ushr_imm_u(lane, 5));
            }
            S::LanemaskEq | S::LanemaskLe | S::LanemaskLt | S::LanemaskGe | S::LanemaskGt => {
                return Ok(self.lane_mask(register));
            }
            S::Ntid(Axis::X) => Special::NtidX,
            S::Ntid(Axis::Y) => Special::NtidY,
            S::Ntid(Axis::Z) => Special::NtidZ,
            S::Ctaid(Axis::X) => Special::CtaidX,
            S::Ctaid(Axis::Y) => Special::CtaidY,
            S::Ctaid(Axis::Z) => Special::CtaidZ,
            S::Nctaid(Axis::X) => Special::NctaidX,
            S::Nctaid(Axis::Y) => Special::NctaidY,
            S::Nctaid(Axis::Z) => Special::NctaidZ,
            S::DynamicSharedSize => Special::DynamicShared,
            other => return self.not_modelled(format!("the special register {other:?}")),
        };
        Ok(self.special(special))
    }

    fn linear_lane(&mut self) -> Value {
        match self.lane {
            Some(lane) => lane,
            None => self.constant(types::I64, 0),
        }
    }

    fn lane_id(&mut self) -> Value {
        let lane = self.linear_lane();
        self.builder.ins().band_imm_s(lane, 31)
    }

    fn lane_mask(&mut self, register: SpecialRegister) -> Value {
        let lane = self.lane_id();
        let one = self.constant(types::I64, 1);
        let equal = self.builder.ins().ishl(one, lane);
        let below = self.builder.ins().iadd_imm_s(equal, -1);
        let up_to = self.builder.ins().bor(equal, below);
        let mask = match register {
            SpecialRegister::LanemaskEq => equal,
            SpecialRegister::LanemaskLt => below,
            SpecialRegister::LanemaskLe => up_to,
            SpecialRegister::LanemaskGe => self.builder.ins().bnot(below),
            _ => self.builder.ins().bnot(up_to),
        };
        self.cut(mask, 32)
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
