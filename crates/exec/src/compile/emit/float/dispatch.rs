//! Which instruction on numbers is computed in which way.

use cranelift_codegen::ir::InstBuilder;
use peermap_ptx::instruction::{BinaryOp, Precision, TernaryOp, UnaryOp};
use peermap_ptx::{RegisterId, Source};

use super::super::emitter::Emitter;
use super::arithmetic::How;
use crate::error::CompileError;
use crate::float::Function;

impl Emitter<'_, '_> {
    /// An instruction on one number.
    pub(in super::super) fn float_unary(
        &mut self,
        op: UnaryOp,
        destination: RegisterId,
        source: Source,
    ) -> Result<(), CompileError> {
        match op {
            UnaryOp::FloatNeg { ty, ftz } => self.change_sign(ty, ftz, destination, source, |emitter, number, sign| {
                emitter.builder.ins().bxor(number, sign)
            }),
            UnaryOp::FloatAbs { ty, ftz } => self.change_sign(ty, ftz, destination, source, |emitter, number, sign| {
                emitter.builder.ins().band_not(number, sign)
            }),
            UnaryOp::Reciprocal { ty, precision: Precision::Rounded(rounding), ftz } => {
                self.reciprocal_rounded(ty, How::rounded(rounding, ftz), destination, source);
            }
            UnaryOp::Reciprocal { ty, ftz, .. } => self.approximate_reciprocal(ty, ftz, destination, source),
            UnaryOp::Sqrt { ty, precision: Precision::Rounded(rounding), ftz } => {
                self.float_arithmetic(Function::Root, ty, How::rounded(rounding, ftz), destination, [source]);
            }
            UnaryOp::Sqrt { ftz, .. } => self.approximate_root(ftz, destination, source),
            UnaryOp::Transcendental { function, ty, ftz } => {
                self.approximate(function, ty, ftz, destination, source);
            }
            UnaryOp::Test { test, ty } => self.test_number(test, ty, destination, source),
            _ => return self.unmodelled(),
        }
        Ok(())
    }

    /// An instruction on two numbers.
    pub(in super::super) fn float_binary(
        &mut self,
        op: BinaryOp,
        destination: RegisterId,
        a: Source,
        b: Source,
    ) -> Result<(), CompileError> {
        let (function, ty, from, how) = match op {
            BinaryOp::FloatAdd { ty, from, rounding, ftz, saturate } => {
                (Function::Add, ty, from, How { rounding, ftz, saturate, relu: false })
            }
            BinaryOp::FloatSub { ty, from, rounding, ftz, saturate } => {
                (Function::Subtract, ty, from, How { rounding, ftz, saturate, relu: false })
            }
            BinaryOp::FloatMul { ty, rounding, ftz, saturate } => {
                (Function::Multiply, ty, None, How { rounding, ftz, saturate, relu: false })
            }
            BinaryOp::FloatDiv { ty, precision: Precision::Rounded(rounding), ftz } => {
                (Function::Divide, ty, None, How::rounded(rounding, ftz))
            }
            BinaryOp::FloatDiv { precision: Precision::Full, ftz, .. } => {
                self.divide_full(ftz, destination, [a, b]);
                return Ok(());
            }
            BinaryOp::FloatDiv { ftz, .. } => {
                self.divide_approximately(ftz, destination, [a, b]);
                return Ok(());
            }
            BinaryOp::FloatMin(how) | BinaryOp::FloatMax(how) => {
                self.float_extreme(how, matches!(op, BinaryOp::FloatMax(_)), destination, [a, b]);
                return Ok(());
            }
            BinaryOp::CopySign(ty) => {
                self.copy_sign(ty, destination, a, b);
                return Ok(());
            }
            _ => return self.unmodelled(),
        };
        match from {
            Some(half) => self.mixed_arithmetic(function, half, how, destination, [a, b]),
            None => self.float_arithmetic(function, ty, how, destination, [a, b]),
        }
        Ok(())
    }

    /// An instruction on three numbers.
    pub(in super::super) fn float_ternary(
        &mut self,
        op: TernaryOp,
        destination: RegisterId,
        sources: [Source; 3],
    ) -> Result<(), CompileError> {
        match op {
            TernaryOp::Fma { ty, from, rounding, ftz, saturate, relu, oob: false } => {
                let how = How { rounding, ftz, saturate, relu };
                match from {
                    Some(half) => self.mixed_arithmetic(Function::MultiplyAdd, half, how, destination, sources),
                    None => self.float_arithmetic(Function::MultiplyAdd, ty, how, destination, sources),
                }
            }
            TernaryOp::FloatMin3(how) => self.float_extreme(how, false, destination, sources),
            TernaryOp::FloatMax3(how) => self.float_extreme(how, true, destination, sources),
            TernaryOp::SelectFloat { bits, ftz } => self.select_by_number(bits, ftz, destination, sources),
            _ => return self.unmodelled(),
        }
        Ok(())
    }
}
