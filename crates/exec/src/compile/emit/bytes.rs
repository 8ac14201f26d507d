//! Words as bytes: `prmt`, `dp4a`, `dp2a`.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::instruction::Permute;
use peermap_ptx::{RegisterId, Source};

use super::emitter::Emitter;

/// The selectors of a mode as the general form has them, for the four values of the two bits that count, the first in
/// the lowest 16 bits.
fn selectors(mode: Permute) -> Option<u64> {
    Some(match mode {
        Permute::Default => return None,
        Permute::Forward4 => 0x6543_5432_4321_3210,
        Permute::Backward4 => 0x0123_7012_6701_5670,
        Permute::Replicate8 => 0x3333_2222_1111_0000,
        Permute::ClampLeft => 0x3333_3222_3211_3210,
        Permute::ClampRight => 0x3210_2210_1110_0000,
        Permute::Replicate16 => 0x3232_1010_3232_1010,
    })
}

impl Emitter<'_, '_> {
    pub(super) fn permute(&mut self, mode: Permute, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let (a, b, control) = (self.integer(a, 32, false), self.integer(b, 32, false), self.integer(c, 32, false));
        let (a, b, control) = (self.wide(a), self.wide(b), self.wide(control));
        let upper = self.builder.ins().ishl_imm_u(b, 32);
        let source = self.builder.ins().bor(upper, a);
        let control = match selectors(mode) {
            None => control,
            Some(table) => {
                let row = self.builder.ins().band_imm_u(control, 3);
                let shift = self.builder.ins().ishl_imm_u(row, 4);
                let table = self.constant(types::I64, table.cast_signed());
                self.builder.ins().ushr(table, shift)
            }
        };
        let mut result = self.constant(types::I64, 0);
        for place in 0..4 {
            let selector = self.builder.ins().ushr_imm_u(control, 4 * place);
            let byte = self.selected(source, selector);
            let moved = self.builder.ins().ishl_imm_u(byte, 8 * place);
            result = self.builder.ins().bor(result, moved);
        }
        self.write(destination, result, 32, false);
    }

    /// The byte that the lowest four bits of a selector pick: as it is, or its sign eight times.
    fn selected(&mut self, source: Value, selector: Value) -> Value {
        let number = self.builder.ins().band_imm_u(selector, 7);
        let shift = self.builder.ins().ishl_imm_u(number, 3);
        let moved = self.builder.ins().ushr(source, shift);
        let byte = self.builder.ins().band_imm_u(moved, 0xFF);
        let sign = self.builder.ins().ushr_imm_u(byte, 7);
        let signs = self.builder.ins().imul_imm_u(sign, 0xFF);
        let is_sign = self.builder.ins().band_imm_u(selector, 8);
        self.builder.ins().select(is_sign, signs, byte)
    }

    /// `c` and the products of four bytes.
    pub(super) fn dot_4(&mut self, signed: [bool; 2], destination: RegisterId, [a, b, c]: [Source; 3]) {
        let (a, b) = (self.integer(a, 32, false), self.integer(b, 32, false));
        let mut sum = self.integer(c, 32, false);
        for place in 0..4 {
            let (x, y) = (self.byte(a, place, signed[0]), self.byte(b, place, signed[1]));
            let product = self.builder.ins().imul(x, y);
            sum = self.builder.ins().iadd(sum, product);
        }
        self.write(destination, sum, 32, false);
    }

    /// `c` and the products of the halves of `a` with two bytes of `b`.
    pub(super) fn dot_2(&mut self, signed: [bool; 2], upper: bool, destination: RegisterId, [a, b, c]: [Source; 3]) {
        let (a, b) = (self.integer(a, 32, false), self.integer(b, 32, false));
        let mut sum = self.integer(c, 32, false);
        for place in 0..2 {
            let x = self.half(a, place == 1, signed[0]);
            let y = self.byte(b, place + if upper { 2 } else { 0 }, signed[1]);
            let product = self.builder.ins().imul(x, y);
            sum = self.builder.ins().iadd(sum, product);
        }
        self.write(destination, sum, 32, false);
    }

    /// One of the bytes of a word as a word.
    fn byte(&mut self, word: Value, place: i64, signed: bool) -> Value {
        let top = self.builder.ins().ishl_imm_u(word, 24 - 8 * place);
        match signed {
            true => self.builder.ins().sshr_imm_u(top, 24),
            false => self.builder.ins().ushr_imm_u(top, 24),
        }
    }
}
