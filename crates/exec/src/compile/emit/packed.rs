//! Two integers of 16 bits side by side.

use cranelift_codegen::ir::{InstBuilder, Value};
use peermap_ptx::{IntegerType, RegisterId, Source};

use super::emitter::Emitter;

/// What is computed of both halves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packed {
    Add,
    /// The smaller or the `largest`; `relu`: at least zero.
    Extreme {
        largest: bool,
        relu: bool,
    },
}

impl Emitter<'_, '_> {
    pub(super) fn packed(&mut self, op: Packed, ty: IntegerType, destination: RegisterId, a: Source, b: Source) {
        let (a, b) = (self.integer(a, 32, false), self.integer(b, 32, false));
        let signed = ty.is_signed();
        let [low, high] = [false, true].map(|upper| {
            let (a, b) = (self.half(a, upper, signed), self.half(b, upper, signed));
            match op {
                Packed::Add => self.builder.ins().iadd(a, b),
                Packed::Extreme { largest, relu } => {
                    let chosen = self.chosen(largest, signed, a, b);
                    if relu { self.at_least_zero(chosen) } else { chosen }
                }
            }
        });
        let low = self.builder.ins().band_imm_u(low, 0xFFFF);
        let high = self.builder.ins().ishl_imm_u(high, 16);
        let both = self.builder.ins().bor(low, high);
        self.write(destination, both, 32, false);
    }

    /// One of the halves of a word as a word.
    pub(super) fn half(&mut self, word: Value, upper: bool, signed: bool) -> Value {
        let top = if upper { word } else { self.builder.ins().ishl_imm_u(word, 16) };
        match signed {
            true => self.builder.ins().sshr_imm_u(top, 16),
            false => self.builder.ins().ushr_imm_u(top, 16),
        }
    }
}
