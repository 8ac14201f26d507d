//! Special registers, but for clocks, which are steps of their own.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::analysis::BlockShape;
use peermap_ptx::{Axis, SpecialRegister};

use super::emitter::Emitter;
use crate::block::frame::Special;
use crate::block::spaces::SHARED_UNIT;
use crate::error::CompileError;
use crate::window::Window;

impl Emitter<'_, '_> {
    /// What a special register holds. There are no clusters: each block is one by itself.
    pub(super) fn special_register(&mut self, register: SpecialRegister) -> Result<Value, CompileError> {
        use SpecialRegister as S;
        Ok(match register {
            S::Tid(axis) => self.thread(axis),
            S::LaneId => self.lane_id(),
            S::WarpId => {
                let lane = self.linear_lane();
                self.builder.ins().ushr_imm_u(lane, 5)
            }
            S::LanemaskEq | S::LanemaskLe | S::LanemaskLt | S::LanemaskGe | S::LanemaskGt => self.lane_mask(register),
            S::Ntid(axis) => self.dimension([Special::NtidX, Special::NtidY, Special::NtidZ], axis),
            S::Ctaid(axis) | S::ClusterId(axis) => {
                self.dimension([Special::CtaidX, Special::CtaidY, Special::CtaidZ], axis)
            }
            S::Nctaid(axis) | S::NclusterId(axis) => {
                self.dimension([Special::NctaidX, Special::NctaidY, Special::NctaidZ], axis)
            }
            S::ClusterNctaid(Axis::X | Axis::Y | Axis::Z) | S::ClusterNctarank => self.constant(types::I64, 1),
            S::ClusterNctaid(Axis::W)
            | S::ClusterCtaid(_)
            | S::ClusterCtarank
            | S::IsExplicitCluster
            | S::Envreg(_) => self.constant(types::I64, 0),
            S::DynamicSharedSize => self.special(Special::DynamicShared),
            S::TotalSharedSize => {
                let unit = SHARED_UNIT.cast_signed();
                let sum = self.shared_and(unit - 1);
                self.builder.ins().band_imm_s(sum, -unit)
            }
            S::AggregateSharedSize => self.shared_and(Window::Shared.start().cast_signed()),
            // What the system has for itself begins at zero; these are its end and the start of what kernels have.
            S::ReservedShared(1) => self.constant(types::I64, 0x120),
            S::ReservedShared(2) => self.constant(types::I64, Window::Shared.start().cast_signed()),
            S::ReservedShared(_) | S::CurrentGraphExec => self.constant(types::I64, 0),
            S::GridId => self.special(Special::GridId),
            S::SmId => self.special(Special::Multiprocessor),
            S::NsmId => self.special(Special::Multiprocessors),
            S::NwarpId => self.special(Special::Warps),
            other => return self.not_modelled(format!("the special register `{other}`")),
        })
    }

    /// The bytes of shared memory that a kernel asked for, and some more.
    fn shared_and(&mut self, more: i64) -> Value {
        let fixed = self.surroundings.layout.sizes().shared.cast_signed();
        let dynamic = self.special(Special::DynamicShared);
        self.builder.ins().iadd_imm_s(dynamic, fixed + more)
    }

    fn dimension(&mut self, parts: [Special; 3], axis: Axis) -> Value {
        match axis {
            Axis::X => self.special(parts[0]),
            Axis::Y => self.special(parts[1]),
            Axis::Z => self.special(parts[2]),
            Axis::W => self.constant(types::I64, 0),
        }
    }

    fn thread(&mut self, axis: Axis) -> Value {
        match (axis, self.surroundings.shape) {
            (Axis::X, _) => self.tid_x(),
            (Axis::Y, BlockShape::Any) => self.tid(1),
            (Axis::Z, BlockShape::Any) => self.tid(2),
            _ => self.constant(types::I64, 0),
        }
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
}
