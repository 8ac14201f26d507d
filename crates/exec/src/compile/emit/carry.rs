//! Chains of instructions that carry from one to the next.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use peermap_ptx::instruction::{Carry, CarryOp, Half};
use peermap_ptx::{RegisterId, Source};

use super::emitter::Emitter;

impl Emitter<'_, '_> {
    /// An operation on the carry flag, which is a predicate like others. As in the hardware it is the carry of a sum: a
    /// difference is the sum with the complement, so that it sets the flag where it does not borrow.
    pub(super) fn carry(&mut self, carry: &Carry) {
        let (bits, signed) = (carry.ty.bits(), carry.ty.is_signed());
        let flag = carry.carry_in.map(|flag| self.flag(flag, bits));
        let (result, out) = match (carry.op, carry.c) {
            (CarryOp::Sub, _) => {
                let (a, b) = (self.typed(carry.a, carry.ty), self.typed(carry.b, carry.ty));
                let complement = self.builder.ins().bnot(b);
                let one = self.constant(self.builder.func.dfg.value_type(a), 1);
                self.sum(a, complement, Some(flag.unwrap_or(one)))
            }
            (CarryOp::Add, _) | (_, None) => {
                let (a, b) = (self.typed(carry.a, carry.ty), self.typed(carry.b, carry.ty));
                self.sum(a, b, flag)
            }
            (CarryOp::MadLow | CarryOp::MadHigh, Some(c)) => {
                let half = if carry.op == CarryOp::MadLow { Half::Low } else { Half::High };
                let (product, _) = self.product(carry.ty, half, carry.a, carry.b);
                let c = self.typed(c, carry.ty);
                self.sum(product, c, flag)
            }
        };
        self.write(carry.destination, result, bits, signed);
        if let Some(flag) = carry.carry_out {
            self.write(flag, out, 1, false);
        }
    }

    fn flag(&mut self, flag: RegisterId, bits: u32) -> Value {
        // A predicate lies in 64 bits; the sum needs it as wide as what is added.
        let flag = self.integer(Source::Register(flag), 64, false);
        self.low(flag, bits, false)
    }

    /// A sum and its carry, in a byte.
    fn sum(&mut self, a: Value, b: Value, flag: Option<Value>) -> (Value, Value) {
        let sum = self.builder.ins().iadd(a, b);
        let carry = self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, a);
        let Some(flag) = flag else { return (sum, carry) };
        let all = self.builder.ins().iadd(sum, flag);
        let second = self.builder.ins().icmp(IntCC::UnsignedLessThan, all, sum);
        (all, self.builder.ins().bor(carry, second))
    }
}
