//! Logic, shifts and other operations on bits.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::{BinaryOp, Lop3};
use peermap_ptx::{BitType, IntegerType, RegisterId, Source};

use super::arithmetic::host_type;
use super::emitter::Emitter;

/// The bits of a `BitType` as they are computed: those of a predicate lie in a byte.
fn width(ty: BitType) -> u32 {
    ty.bits().max(8)
}

impl Emitter<'_, '_> {
    fn put_bits(&mut self, destination: RegisterId, value: Value, ty: BitType) {
        self.write(destination, value, ty.bits(), false);
    }

    /// A number as an instruction gives it that counts.
    fn put_count(&mut self, destination: RegisterId, value: Value) {
        self.write(destination, value, 32, false);
    }

    pub(super) fn not(&mut self, ty: BitType, destination: RegisterId, source: Source) {
        let value = self.integer(source, width(ty), false);
        let result = match ty {
            BitType::Pred => self.builder.ins().bxor_imm_s(value, 1),
            _ => self.builder.ins().bnot(value),
        };
        self.put_bits(destination, result, ty);
    }

    pub(super) fn logical_not(&mut self, ty: BitType, destination: RegisterId, source: Source) {
        let value = self.integer(source, width(ty), false);
        let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, value, 0);
        self.put_bits(destination, is_zero, ty);
    }

    pub(super) fn pop_count(&mut self, ty: BitType, destination: RegisterId, source: Source) {
        let value = self.integer(source, width(ty), false);
        let count = self.builder.ins().popcnt(value);
        self.put_count(destination, count);
    }

    pub(super) fn leading_zeros(&mut self, ty: BitType, destination: RegisterId, source: Source) {
        let value = self.integer(source, width(ty), false);
        let count = self.builder.ins().clz(value);
        self.put_count(destination, count);
    }

    pub(super) fn reverse_bits(&mut self, ty: BitType, destination: RegisterId, source: Source) {
        let value = self.integer(source, width(ty), false);
        let reversed = self.builder.ins().bitrev(value);
        self.put_bits(destination, reversed, ty);
    }

    pub(super) fn find_leading(
        &mut self,
        ty: IntegerType,
        shift_amount: bool,
        destination: RegisterId,
        source: Source,
    ) {
        let value = self.typed(source, ty);
        let value = match ty.is_signed() {
            true => {
                let sign = self.builder.ins().sshr_imm_u(value, i64::from(ty.bits() - 1));
                self.builder.ins().bxor(value, sign)
            }
            false => value,
        };
        let zeros = self.builder.ins().clz(value);
        let found = match shift_amount {
            true => zeros,
            false => {
                let highest = self.constant(host_type(ty.bits()), i64::from(ty.bits() - 1));
                self.builder.ins().isub(highest, zeros)
            }
        };
        let none = self.builder.ins().icmp_imm_s(IntCC::Equal, value, 0);
        let ones = self.constant(host_type(ty.bits()), -1);
        let result = self.builder.ins().select(none, ones, found);
        let word = self.wide(result);
        let kept = self.cut(word, 32);
        self.put_count(destination, kept);
    }

    pub(super) fn wide(&mut self, value: Value) -> Value {
        match self.builder.func.dfg.value_type(value) {
            types::I64 => value,
            _ => self.builder.ins().uextend(types::I64, value),
        }
    }

    pub(super) fn logic(&mut self, op: BinaryOp, ty: BitType, destination: RegisterId, a: Source, b: Source) {
        let (a, b) = (self.integer(a, width(ty), false), self.integer(b, width(ty), false));
        let result = match op {
            BinaryOp::And(_) => self.builder.ins().band(a, b),
            BinaryOp::Or(_) => self.builder.ins().bor(a, b),
            _ => self.builder.ins().bxor(a, b),
        };
        self.put_bits(destination, result, ty);
    }

    pub(super) fn shift_left(&mut self, ty: BitType, destination: RegisterId, a: Source, b: Source) {
        let value = self.integer(a, width(ty), false);
        let amount = self.integer(b, 32, false);
        let result = self.left(value, amount, ty.bits());
        self.put_bits(destination, result, ty);
    }

    /// A shift to the left, in which everything goes if the amount is so large.
    pub(super) fn left(&mut self, value: Value, amount: Value, bits: u32) -> Value {
        let shifted = self.builder.ins().ishl(value, amount);
        self.unless_all(shifted, amount, bits)
    }

    fn right(&mut self, value: Value, amount: Value, bits: u32) -> Value {
        let shifted = self.builder.ins().ushr(value, amount);
        self.unless_all(shifted, amount, bits)
    }

    fn unless_all(&mut self, shifted: Value, amount: Value, bits: u32) -> Value {
        let zero = self.constant(self.builder.func.dfg.value_type(shifted), 0);
        let all =
            self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, amount, u64::from(bits).cast_signed());
        self.builder.ins().select(all, zero, shifted)
    }

    pub(super) fn shift_right(&mut self, ty: IntegerType, destination: RegisterId, a: Source, b: Source) {
        let value = self.typed(a, ty);
        let amount = self.integer(b, 32, false);
        let result = match ty.is_signed() {
            true => {
                let most = self.constant(types::I32, i64::from(ty.bits() - 1));
                let amount = self.builder.ins().umin(amount, most);
                self.builder.ins().sshr(value, amount)
            }
            false => self.right(value, amount, ty.bits()),
        };
        self.write(destination, result, ty.bits(), ty.is_signed());
    }

    /// As many ones as `length` says, all of them if it is more than the width.
    pub(super) fn ones(&mut self, length: Value, bits: u32) -> Value {
        let one = self.constant(host_type(bits), 1);
        let power = self.left(one, length, bits);
        self.builder.ins().iadd_imm_s(power, -1)
    }

    /// A start or a length of a field: of 32 bits its low byte counts, of 64 the whole number, for which as many as a byte
    /// holds are enough.
    fn field_part(&mut self, source: Source, bits: u32) -> Value {
        if bits == 32 {
            return self.integer(source, 8, false);
        }
        let part = self.integer(source, 32, false);
        let most = self.constant(types::I32, 255);
        self.builder.ins().umin(part, most)
    }

    pub(super) fn insert_bits(&mut self, bits: u32, destination: RegisterId, [a, b, start, length]: [Source; 4]) {
        let (a, b) = (self.integer(a, bits, false), self.integer(b, bits, false));
        let (start, length) = (self.field_part(start, bits), self.field_part(length, bits));
        let ones = self.ones(length, bits);
        let mask = self.left(ones, start, bits);
        let put = self.left(a, start, bits);
        let (put, kept) = (self.builder.ins().band(put, mask), self.builder.ins().band_not(b, mask));
        let result = self.builder.ins().bor(put, kept);
        self.write(destination, result, bits, false);
    }

    /// Above the highest bit of the value there are only copies of the sign; the sign of the field is its highest bit,
    /// or that of the value where it ends above.
    pub(super) fn extract_bits(&mut self, ty: IntegerType, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let bits = ty.bits();
        let value = self.typed(a, ty);
        let (start, length) = (self.field_part(b, bits), self.field_part(c, bits));
        let ones = self.ones(length, bits);
        let field = self.right(value, start, bits);
        let field = self.builder.ins().band(field, ones);
        let result = match ty.is_signed() {
            false => field,
            true => {
                let end = self.builder.ins().iadd(start, length);
                let last = self.builder.ins().iadd_imm_s(end, -1);
                let most = self.constant(types::I32, i64::from(bits - 1));
                let last = self.builder.ins().umin(last, most);
                let sign = self.builder.ins().ushr(value, last);
                let sign = self.builder.ins().band_imm_s(sign, 1);
                let filling = self.builder.ins().ineg(sign);
                let available = self.builder.ins().isub(most, start);
                let available = self.builder.ins().iadd_imm_s(available, 1);
                let zero = self.constant(types::I32, 0);
                let available = self.builder.ins().smax(available, zero);
                let real = self.builder.ins().umin(available, length);
                let covered = self.ones(real, bits);
                let above = self.builder.ins().band_not(filling, covered);
                let signed = self.builder.ins().bor(field, above);
                let none = self.builder.ins().icmp_imm_s(IntCC::Equal, length, 0);
                let nothing = self.constant(host_type(bits), 0);
                self.builder.ins().select(none, nothing, signed)
            }
        };
        self.write(destination, result, bits, ty.is_signed());
    }

    pub(super) fn funnel(&mut self, left: bool, wrap: bool, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let (low, high, amount) = (self.integer(a, 32, false), self.integer(b, 32, false), self.integer(c, 32, false));
        let amount = match wrap {
            true => self.builder.ins().band_imm_s(amount, 31),
            false => {
                let most = self.constant(types::I32, 32);
                self.builder.ins().umin(amount, most)
            }
        };
        let (low, high) = (self.wide(low), self.wide(high));
        let high = self.builder.ins().ishl_imm_u(high, 32);
        let both = self.builder.ins().bor(high, low);
        let result = match left {
            true => {
                let shifted = self.builder.ins().ishl(both, amount);
                self.builder.ins().ushr_imm_u(shifted, 32)
            }
            false => self.builder.ins().ushr(both, amount),
        };
        let kept = self.cut(result, 32);
        self.write(destination, kept, 32, false);
    }

    pub(super) fn lop3(&mut self, lop3: &Lop3) {
        let inputs = [lop3.a, lop3.b, lop3.c].map(|source| self.integer(source, 32, false));
        let mut result = self.constant(types::I32, 0);
        for row in (0..8).filter(|row| lop3.table >> row & 1 == 1) {
            let mut term = self.constant(types::I32, -1);
            for (input, bit) in inputs.into_iter().zip([4, 2, 1]) {
                let factor = if row & bit == 0 { self.builder.ins().bnot(input) } else { input };
                term = self.builder.ins().band(term, factor);
            }
            result = self.builder.ins().bor(result, term);
        }
        if let Some(predicate) = lop3.predicate {
            let with = self.truth(predicate.with);
            let is_set = self.builder.ins().icmp_imm_s(IntCC::NotEqual, result, 0);
            let is_set = self.wide(is_set);
            let joined = match predicate.and {
                true => self.builder.ins().band(is_set, with),
                false => self.builder.ins().bor(is_set, with),
            };
            self.write(predicate.destination, joined, 1, false);
        }
        if let Some(destination) = lop3.destination {
            self.write(destination, result, 32, false);
        }
    }

    pub(super) fn select(&mut self, bits: u32, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let condition = self.integer(c, 64, false);
        let (a, b) = (self.integer(a, bits, false), self.integer(b, bits, false));
        let chosen = self.builder.ins().select(condition, a, b);
        self.write(destination, chosen, bits, false);
    }

    pub(super) fn select_signed(&mut self, bits: u32, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let c = self.integer(c, 32, true);
        let condition = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, c, 0);
        let (a, b) = (self.integer(a, bits, false), self.integer(b, bits, false));
        let chosen = self.builder.ins().select(condition, a, b);
        self.write(destination, chosen, bits, false);
    }
}
