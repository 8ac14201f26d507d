//! Which instructions are compiled, by their shape.

use cranelift_codegen::ir::types;
use peermap_ptx::instruction::{BinaryOp, CacheHint, CacheHintKind, TernaryOp, UnaryOp};
use peermap_ptx::{Operation, RegisterId, Source};

use super::emitter::Emitter;
use super::packed::Packed;
use crate::error::CompileError;

impl Emitter<'_, '_> {
    pub(super) fn operation(&mut self, operation: &Operation) -> Result<(), CompileError> {
        match operation {
            Operation::Unary { op, destination, source } => self.unary(*op, *destination, *source),
            Operation::Binary { op, destination, a, b } => self.binary(*op, *destination, *a, *b),
            Operation::Ternary { op, destination, a, b, c } => self.ternary(*op, *destination, [*a, *b, *c]),
            Operation::InsertBits { ty, destination, a, b, start, length } => {
                self.insert_bits(ty.bits(), *destination, [*a, *b, *start, *length]);
                Ok(())
            }
            Operation::Lop3(lop3) => {
                self.lop3(lop3);
                Ok(())
            }
            Operation::Carry(carry) => {
                self.carry(carry);
                Ok(())
            }
            Operation::SetPredicate(set) => self.set_predicate(set),
            Operation::Set(set) => self.set(set),
            Operation::Convert { conversion, destination, a, b } => self.convert(*conversion, *destination, *a, *b),
            Operation::ConvertPack(pack) => {
                self.convert_pack(pack);
                Ok(())
            }
            Operation::Move { ty, destination, source } => self.move_value(*ty, *destination, *source),
            Operation::Pack { destination, sources, ty } => {
                self.pack(ty.bits(), *destination, sources);
                Ok(())
            }
            Operation::Unpack { ty, destinations, source } => {
                self.unpack(ty.bits(), destinations, *source);
                Ok(())
            }
            Operation::MoveVector { ty, destinations, sources } => self.move_vector(*ty, destinations, sources),
            Operation::Load(load) => self.load_parameter(load),
            // A policy is read by cache hints alone.
            Operation::CreatePolicy { destination, .. } => {
                let none = self.constant(types::I64, 0);
                self.write(*destination, none, 64, false);
                Ok(())
            }
            // Nothing that a program can see.
            Operation::CacheHint(CacheHint {
                kind: CacheHintKind::Prefetch | CacheHintKind::ApplyPriority, ..
            })
            | Operation::PerformanceEvent { .. }
            | Operation::SetMaxRegisters { .. } => Ok(()),
            _ => self.unmodelled(),
        }
    }

    fn unary(&mut self, op: UnaryOp, destination: RegisterId, source: Source) -> Result<(), CompileError> {
        match op {
            UnaryOp::Neg(ty) if !ty.is_packed() => self.negate(ty, destination, source),
            UnaryOp::Abs(ty) if !ty.is_packed() => self.absolute(ty, destination, source),
            UnaryOp::Not(ty) => self.not(ty, destination, source),
            UnaryOp::LogicalNot(ty) => self.logical_not(ty, destination, source),
            UnaryOp::PopCount(ty) => self.pop_count(ty, destination, source),
            UnaryOp::LeadingZeros(ty) => self.leading_zeros(ty, destination, source),
            UnaryOp::ReverseBits(ty) => self.reverse_bits(ty, destination, source),
            UnaryOp::FindLeading { ty, shift_amount } => self.find_leading(ty, shift_amount, destination, source),
            UnaryOp::ToGeneric { space, bits: 64 } => self.make_generic(space, destination, source),
            UnaryOp::FromGeneric { space, bits: 64 } => self.make_of_space(space, destination, source),
            UnaryOp::IsSpace(space) => self.is_in_space(space, destination, source),
            UnaryOp::CtaRank { .. } => self.rank_of(destination),
            other => return self.float_unary(other, destination, source),
        }
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp, destination: RegisterId, a: Source, b: Source) -> Result<(), CompileError> {
        match op {
            BinaryOp::Add { ty, .. } if ty.is_packed() => self.packed(Packed::Add, ty, destination, a, b),
            BinaryOp::Add { ty, saturate } => self.add(ty, saturate, destination, a, b),
            BinaryOp::Sub { ty, saturate } if !ty.is_packed() => self.subtract(ty, saturate, destination, a, b),
            BinaryOp::Mul { ty, half } if !ty.is_packed() => self.multiply(ty, half, destination, a, b),
            BinaryOp::Mul24 { ty, half } => self.multiply_24(ty, half, destination, a, b),
            BinaryOp::Div(ty) => self.divide(ty, false, destination, a, b),
            BinaryOp::Rem(ty) => self.divide(ty, true, destination, a, b),
            BinaryOp::Min { ty, relu } => self.extreme(ty, (false, relu), destination, a, b),
            BinaryOp::Max { ty, relu } => self.extreme(ty, (true, relu), destination, a, b),
            BinaryOp::BitMask { clamp } => self.bit_mask(clamp, destination, a, b),
            BinaryOp::Extend { ty, clamp } => self.extend(ty.is_signed(), clamp, destination, a, b),
            BinaryOp::And(ty) | BinaryOp::Or(ty) | BinaryOp::Xor(ty) => self.logic(op, ty, destination, a, b),
            BinaryOp::ShiftLeft(ty) => self.shift_left(ty, destination, a, b),
            BinaryOp::ShiftRight(ty) => self.shift_right(ty, destination, a, b),
            BinaryOp::MapAddress { bits, .. } => self.map_shared(bits, destination, a),
            other => return self.float_binary(other, destination, a, b),
        }
        Ok(())
    }

    fn ternary(&mut self, op: TernaryOp, destination: RegisterId, [a, b, c]: [Source; 3]) -> Result<(), CompileError> {
        match op {
            TernaryOp::Mad { ty, half, saturate } => self.multiply_add(ty, (half, saturate), destination, [a, b, c]),
            TernaryOp::Mad24 { ty, half, saturate } => {
                self.multiply_add_24(ty, (half, saturate), destination, [a, b, c]);
            }
            TernaryOp::SumOfDifferences(ty) if !ty.is_packed() => self.sum_of_differences(ty, destination, [a, b, c]),
            TernaryOp::ExtractBits(ty) => self.extract_bits(ty, destination, [a, b, c]),
            TernaryOp::FindNthSet => self.find_nth_set(destination, [a, b, c]),
            TernaryOp::Permute(mode) => self.permute(mode, destination, [a, b, c]),
            TernaryOp::Dot4 { a_signed, b_signed } => self.dot_4([a_signed, b_signed], destination, [a, b, c]),
            TernaryOp::Dot2 { a_signed, b_signed, upper } => {
                self.dot_2([a_signed, b_signed], upper, destination, [a, b, c]);
            }
            TernaryOp::FunnelLeft { wrap } => self.funnel(true, wrap, destination, [a, b, c]),
            TernaryOp::FunnelRight { wrap } => self.funnel(false, wrap, destination, [a, b, c]),
            TernaryOp::Select { bits } => self.select(bits, destination, [a, b, c]),
            TernaryOp::SelectSigned { bits } => self.select_signed(bits, destination, [a, b, c]),
            other => return self.float_ternary(other, destination, [a, b, c]),
        }
        Ok(())
    }
}
