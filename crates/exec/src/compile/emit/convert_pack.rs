//! `cvt.pack`.

use cranelift_codegen::ir::{InstBuilder, types};
use peermap_ptx::instruction::{CvtPack, CvtPackTo};

use super::emitter::Emitter;

impl Emitter<'_, '_> {
    pub(super) fn convert_pack(&mut self, pack: &CvtPack) {
        let (bits, signed) = match pack.to {
            CvtPackTo::U16 => (16, false),
            CvtPackTo::S16 => (16, true),
            CvtPackTo::U8 => (8, false),
            CvtPackTo::S8 => (8, true),
            CvtPackTo::U4 => (4, false),
            CvtPackTo::S4 => (4, true),
            CvtPackTo::U2 => (2, false),
            CvtPackTo::S2 => (2, true),
        };
        let mut whole = match pack.c {
            Some(c) => {
                let word = self.integer(c, 64, false);
                self.builder.ins().ishl_imm_u(word, i64::from(2 * bits))
            }
            None => self.constant(types::I64, 0),
        };
        for (source, place) in [(pack.a, 1), (pack.b, 0)] {
            let integer = self.integer(source, 32, true);
            let wide = self.builder.ins().sextend(types::I64, integer);
            let inside = self.within(wide, true, bits, signed);
            let kept = self.cut(inside, bits);
            let moved = self.builder.ins().ishl_imm_u(kept, i64::from(place * bits));
            whole = self.builder.ins().bor(whole, moved);
        }
        let kept = self.cut(whole, 32);
        self.write(pack.destination, kept, 32, false);
    }
}
