//! Integer arithmetic.
//!
//! Sixteen bits are computed in 32, of which the lower half is kept.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use peermap_ptx::instruction::Half;
use peermap_ptx::{IntegerType, RegisterId, Source};

use super::emitter::Emitter;
use super::packed::Packed;

impl Emitter<'_, '_> {
    pub(super) fn typed(&mut self, source: Source, ty: IntegerType) -> Value {
        self.integer(source, ty.bits(), ty.is_signed())
    }

    fn pair(&mut self, ty: IntegerType, a: Source, b: Source) -> (Value, Value) {
        (self.typed(a, ty), self.typed(b, ty))
    }

    fn put(&mut self, destination: RegisterId, value: Value, ty: IntegerType) {
        self.write(destination, value, ty.bits(), ty.is_signed());
    }

    pub(super) fn negate(&mut self, ty: IntegerType, destination: RegisterId, source: Source) {
        let value = self.typed(source, ty);
        let negated = self.builder.ins().ineg(value);
        self.put(destination, negated, ty);
    }

    pub(super) fn absolute(&mut self, ty: IntegerType, destination: RegisterId, source: Source) {
        let value = self.typed(source, ty);
        let result = self.builder.ins().iabs(value);
        self.put(destination, result, ty);
    }

    pub(super) fn add(&mut self, ty: IntegerType, saturate: bool, destination: RegisterId, a: Source, b: Source) {
        let (a, b) = self.pair(ty, a, b);
        let result = self.added(a, b, saturate);
        self.put(destination, result, ty);
    }

    pub(super) fn subtract(&mut self, ty: IntegerType, saturate: bool, destination: RegisterId, a: Source, b: Source) {
        let (a, b) = self.pair(ty, a, b);
        let result = match saturate {
            true => self.saturated(a, b, |emitter, a, b| emitter.builder.ins().isub(a, b)),
            false => self.builder.ins().isub(a, b),
        };
        self.put(destination, result, ty);
    }

    /// The result for two `S32`, cut off at the ends of their range.
    fn saturated(&mut self, a: Value, b: Value, compute: impl FnOnce(&mut Self, Value, Value) -> Value) -> Value {
        let (a, b) = (self.builder.ins().sextend(types::I64, a), self.builder.ins().sextend(types::I64, b));
        let exact = compute(self, a, b);
        let cut = self.clamped(exact, i64::from(i32::MIN), i64::from(i32::MAX));
        self.builder.ins().ireduce(types::I32, cut)
    }

    /// A number of 64 bits, cut off at both ends.
    pub(super) fn clamped(&mut self, value: Value, least: i64, most: i64) -> Value {
        let (least, most) = (self.constant(types::I64, least), self.constant(types::I64, most));
        let at_least = self.builder.ins().smax(value, least);
        self.builder.ins().smin(at_least, most)
    }

    pub(super) fn multiply(&mut self, ty: IntegerType, half: Half, destination: RegisterId, a: Source, b: Source) {
        let (product, bits) = self.product(ty, half, a, b);
        self.write(destination, product, bits, ty.is_signed());
    }

    /// A product, and how many bits of it count.
    pub(super) fn product(&mut self, ty: IntegerType, half: Half, a: Source, b: Source) -> (Value, u32) {
        let (a, b) = self.pair(ty, a, b);
        let bits = ty.bits();
        let product = match (half, bits) {
            (Half::Low, _) => self.builder.ins().imul(a, b),
            (Half::Wide, 16) => return (self.builder.ins().imul(a, b), 32),
            (Half::High, 16) => {
                let product = self.builder.ins().imul(a, b);
                self.builder.ins().ushr_imm_u(product, 16)
            }
            (Half::Wide, _) => {
                let (a, b) = (self.widened(a, ty), self.widened(b, ty));
                return (self.builder.ins().imul(a, b), 64);
            }
            (Half::High, 32) => {
                let (a, b) = (self.widened(a, ty), self.widened(b, ty));
                let product = self.builder.ins().imul(a, b);
                let high = self.builder.ins().ushr_imm_u(product, 32);
                self.builder.ins().ireduce(types::I32, high)
            }
            (Half::High, _) if ty.is_signed() => self.builder.ins().smulhi(a, b),
            (Half::High, _) => self.builder.ins().umulhi(a, b),
        };
        (product, bits)
    }

    fn widened(&mut self, value: Value, ty: IntegerType) -> Value {
        match ty.is_signed() {
            true => self.builder.ins().sextend(types::I64, value),
            false => self.builder.ins().uextend(types::I64, value),
        }
    }

    pub(super) fn multiply_24(&mut self, ty: IntegerType, half: Half, destination: RegisterId, a: Source, b: Source) {
        let product = self.product_24(ty, half, a, b);
        self.put(destination, product, ty);
    }

    pub(super) fn multiply_add_24(
        &mut self,
        ty: IntegerType,
        (half, saturate): (Half, bool),
        destination: RegisterId,
        [a, b, c]: [Source; 3],
    ) {
        let product = self.product_24(ty, half, a, b);
        let c = self.typed(c, ty);
        let sum = self.added(product, c, saturate);
        self.put(destination, sum, ty);
    }

    /// The product of the low 24 bits: the low 32 bits of it, or bits 47 to 16.
    fn product_24(&mut self, ty: IntegerType, half: Half, a: Source, b: Source) -> Value {
        let (a, b) = self.pair(ty, a, b);
        let (a, b) = (self.low_24(a, ty), self.low_24(b, ty));
        if half != Half::High {
            return self.builder.ins().imul(a, b);
        }
        let (a, b) = (self.widened(a, ty), self.widened(b, ty));
        let product = self.builder.ins().imul(a, b);
        let high = self.builder.ins().ushr_imm_u(product, 16);
        self.builder.ins().ireduce(types::I32, high)
    }

    fn added(&mut self, a: Value, b: Value, saturate: bool) -> Value {
        match saturate {
            true => self.saturated(a, b, |emitter, a, b| emitter.builder.ins().iadd(a, b)),
            false => self.builder.ins().iadd(a, b),
        }
    }

    fn low_24(&mut self, value: Value, ty: IntegerType) -> Value {
        let up = self.builder.ins().ishl_imm_u(value, 8);
        if ty.is_signed() { self.builder.ins().sshr_imm_u(up, 8) } else { self.builder.ins().ushr_imm_u(up, 8) }
    }

    pub(super) fn multiply_add(
        &mut self,
        ty: IntegerType,
        (half, saturate): (Half, bool),
        destination: RegisterId,
        [a, b, c]: [Source; 3],
    ) {
        let (product, bits) = self.product(ty, half, a, b);
        let c = self.integer(c, bits, ty.is_signed());
        let sum = self.added(product, c, saturate);
        self.write(destination, sum, bits, ty.is_signed());
    }

    /// A quotient or a remainder. By zero the hardware gives all ones as either.
    pub(super) fn divide(&mut self, ty: IntegerType, remainder: bool, destination: RegisterId, a: Source, b: Source) {
        let (a, b) = self.pair(ty, a, b);
        let host = self.builder.func.dfg.value_type(b);
        let by_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let one = self.constant(host, 1);
        // The host traps where the quotient does not fit: a division by minus one is a negation.
        let safe = match ty.is_signed() {
            true => {
                let by_minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
                let either = self.builder.ins().bor(by_zero, by_minus_one);
                self.builder.ins().select(either, one, b)
            }
            false => self.builder.ins().select(by_zero, one, b),
        };
        let quotient = self.quotient(ty, a, b, safe);
        let result = match remainder {
            true => {
                let whole = self.builder.ins().imul(quotient, b);
                self.builder.ins().isub(a, whole)
            }
            false => quotient,
        };
        let ones = self.constant(host, -1);
        let result = self.builder.ins().select(by_zero, ones, result);
        self.put(destination, result, ty);
    }

    fn quotient(&mut self, ty: IntegerType, a: Value, b: Value, safe: Value) -> Value {
        if !ty.is_signed() {
            return self.builder.ins().udiv(a, safe);
        }
        let quotient = self.builder.ins().sdiv(a, safe);
        let negated = self.builder.ins().ineg(a);
        let by_minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        self.builder.ins().select(by_minus_one, negated, quotient)
    }

    /// The smaller or the `largest` of two; `relu`: at least zero.
    pub(super) fn extreme(
        &mut self,
        ty: IntegerType,
        (largest, relu): (bool, bool),
        destination: RegisterId,
        a: Source,
        b: Source,
    ) {
        if ty.is_packed() {
            return self.packed(Packed::Extreme { largest, relu }, ty, destination, a, b);
        }
        let (a, b) = self.pair(ty, a, b);
        let chosen = self.chosen(largest, ty.is_signed(), a, b);
        let result = if relu { self.at_least_zero(chosen) } else { chosen };
        self.put(destination, result, ty);
    }

    pub(super) fn chosen(&mut self, largest: bool, signed: bool, a: Value, b: Value) -> Value {
        match (largest, signed) {
            (false, false) => self.builder.ins().umin(a, b),
            (false, true) => self.builder.ins().smin(a, b),
            (true, false) => self.builder.ins().umax(a, b),
            (true, true) => self.builder.ins().smax(a, b),
        }
    }

    pub(super) fn at_least_zero(&mut self, value: Value) -> Value {
        let zero = self.constant(self.builder.func.dfg.value_type(value), 0);
        self.builder.ins().smax(value, zero)
    }

    pub(super) fn sum_of_differences(&mut self, ty: IntegerType, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let (a, b) = self.pair(ty, a, b);
        let c = self.typed(c, ty);
        let less = if ty.is_signed() { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
        let is_less = self.builder.ins().icmp(less, a, b);
        let (up, down) = (self.builder.ins().isub(b, a), self.builder.ins().isub(a, b));
        let difference = self.builder.ins().select(is_less, up, down);
        let sum = self.builder.ins().iadd(c, difference);
        self.put(destination, sum, ty);
    }
}

/// The type that integers of so many bits are computed in.
pub(super) fn host_type(bits: u32) -> Type {
    if bits == 64 { types::I64 } else { types::I32 }
}
