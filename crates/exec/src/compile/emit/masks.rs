//! `bmsk`, `szext` and `fns`.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::{RegisterId, Source};

use super::emitter::Emitter;

impl Emitter<'_, '_> {
    /// As many ones as `b` says, from bit `a` on. What is past the top is cut off, and so is a length or a start that
    /// is 32 or more, unless it wraps around.
    pub(super) fn bit_mask(&mut self, clamp: bool, destination: RegisterId, a: Source, b: Source) {
        let (start, length) = (self.integer(a, 32, false), self.integer(b, 32, false));
        let (start, length) = if clamp { (start, length) } else { (self.below_32(start), self.below_32(length)) };
        let ones = self.ones(length, 32);
        let mask = self.left(ones, start, 32);
        self.write(destination, mask, 32, false);
    }

    fn below_32(&mut self, value: Value) -> Value {
        self.builder.ins().band_imm_u(value, 31)
    }

    /// The low `b` bits of `a`, with their sign or without. None of them is zero; 32 or more are all, unless the number
    /// wraps around.
    pub(super) fn extend(&mut self, signed: bool, clamp: bool, destination: RegisterId, a: Source, b: Source) {
        let (value, length) = (self.integer(a, 32, false), self.integer(b, 32, false));
        let length = match clamp {
            true => {
                let most = self.constant(types::I32, 32);
                self.builder.ins().umin(length, most)
            }
            false => self.below_32(length),
        };
        let all = self.constant(types::I32, 32);
        let unused = self.builder.ins().isub(all, length);
        // Shifts of the host take the amount modulo the width: no bits at all are a case of their own.
        let up = self.builder.ins().ishl(value, unused);
        let down = if signed { self.builder.ins().sshr(up, unused) } else { self.builder.ins().ushr(up, unused) };
        let zero = self.constant(types::I32, 0);
        let is_none = self.builder.ins().icmp_imm_u(IntCC::Equal, length, 0);
        let result = self.builder.ins().select(is_none, zero, down);
        self.write(destination, result, 32, false);
    }

    /// The place of the bit that is the `count`-th of those set, from bit `base` on: upwards, or, if `count` is
    /// negative, downwards, which is upwards in the reversed word.
    pub(super) fn find_nth_set(&mut self, destination: RegisterId, [mask, base, count]: [Source; 3]) {
        let (mask, base) = (self.integer(mask, 32, false), self.integer(base, 32, false));
        let count = self.integer(count, 32, true);
        let last = self.constant(types::I32, 31);
        let down = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, count, 0);
        let reversed = self.builder.ins().bitrev(mask);
        let word = self.builder.ins().select(down, reversed, mask);
        let mirrored = self.builder.ins().isub(last, base);
        let from = self.builder.ins().select(down, mirrored, base);
        let all = self.constant(types::I32, -1);
        let kept = self.left(all, from, 32);
        let word = self.builder.ins().band(word, kept);
        let number = self.builder.ins().iabs(count);
        let before = self.builder.ins().iadd_imm_s(number, -1);
        let place = self.nth_set(word, before);
        let unmirrored = self.builder.ins().isub(last, place);
        let place = self.builder.ins().select(down, unmirrored, place);
        // The count of zero asks for the bit at the base itself.
        let own = self.builder.ins().ushr(mask, base);
        let is_own = self.builder.ins().band_imm_u(own, 1);
        let at_base = self.builder.ins().select(is_own, base, all);
        let set = self.builder.ins().popcnt(word);
        let is_there = self.builder.ins().icmp(IntCC::UnsignedLessThan, before, set);
        let found = self.builder.ins().select(is_there, place, all);
        let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, count, 0);
        let found = self.builder.ins().select(is_zero, at_base, found);
        // A base that is no bit finds none.
        let is_bit = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, base, 32);
        let found = self.builder.ins().select(is_bit, found, all);
        // The smallest count has no magnitude: the hardware looks at nothing and gives zero.
        let is_smallest = self.builder.ins().icmp_imm_s(IntCC::Equal, count, i64::from(i32::MIN));
        let nothing = self.constant(types::I32, 0);
        let result = self.builder.ins().select(is_smallest, nothing, found);
        self.write(destination, result, 32, false);
    }

    /// The place of the set bit below which there are so many, if there is one: by halves.
    fn nth_set(&mut self, word: Value, before: Value) -> Value {
        let mut place = self.constant(types::I32, 0);
        let mut before = before;
        for half in [16, 8, 4, 2, 1] {
            let rest = self.builder.ins().ushr(word, place);
            let lower = self.builder.ins().band_imm_u(rest, (1 << half) - 1);
            let count = self.builder.ins().popcnt(lower);
            let is_above = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, before, count);
            let (fewer, further) = (self.builder.ins().isub(before, count), self.builder.ins().iadd_imm_s(place, half));
            before = self.builder.ins().select(is_above, fewer, before);
            place = self.builder.ins().select(is_above, further, place);
        }
        place
    }
}
