//! Logic, shifts and counts.

use super::part::{low, w};
use super::{Form, one, two};

/// `d` for one selector of `prmt` in its general form.
fn byte(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = (low(a, 32) | b << 32).to_le_bytes();
    let byte = bytes[selector as usize & 7];
    if selector & 8 == 0 {
        u64::from(byte)
    } else if byte & 0x80 == 0 {
        0
    } else {
        0xFF
    }
}

/// Four bytes of `b:a`, that for the highest place first.
fn picked(a: u64, b: u64, places: [u64; 4]) -> u64 {
    places.into_iter().fold(0, |word, place| word << 8 | byte(a, b, place))
}

fn lop3(table: u8, [a, b, c, _]: [u64; 4]) -> u64 {
    let bit = |word: u64, at: u32| (word >> at & 1) as u32;
    let result = |at: u32| u64::from(table >> (4 * bit(a, at) + 2 * bit(b, at) + bit(c, at)) & 1) << at;
    (0..32).map(result).sum()
}

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    each!(forms, bits, 2, "and", |a, b| a & b);
    each!(forms, bits, 2, "or", |a, b| a | b);
    each!(forms, bits, 2, "xor", |a, b| a ^ b);
    each!(forms, bits, 1, "not", |a| !a);
    each!(forms, bits, 1, "cnot", |a| if a == 0 { 1 } else { 0 });
    each!(forms, bits, shift, "shl", |a, b| a.checked_shl(b).unwrap_or(0));
    each!(forms, bits, shift, "shr", |a, b| a.checked_shr(b).unwrap_or(0));
    each!(forms, unsigned, shift, "shr", |a, b| a.checked_shr(b).unwrap_or(0));
    each!(forms, signed, shift, "shr", |a, b| a.checked_shr(b).unwrap_or(if a < 0 { -1 } else { 0 }));
    typed!(forms, "b32" 32 u32 u32, count, "popc", |a| a.count_ones());
    typed!(forms, "b64" 64 u64 u64, count, "popc", |a| a.count_ones());
    typed!(forms, "b32" 32 u32 u32, count, "clz", |a| a.leading_zeros());
    typed!(forms, "b64" 64 u64 u64, count, "clz", |a| a.leading_zeros());
    typed!(forms, "b32" 32 u32 u32, 1, "brev", |a| a.reverse_bits());
    typed!(forms, "b64" 64 u64 u64, 1, "brev", |a| a.reverse_bits());
    each!(forms, large, count, "bfind", |a| {
        let turned = if i128::from(a) < 0 { !a } else { a };
        turned.checked_ilog2().unwrap_or(u32::MAX)
    });
    each!(forms, large, count, "bfind.shiftamt", |a| {
        let turned = if i128::from(a) < 0 { !a } else { a };
        if turned == 0 { u32::MAX } else { turned.leading_zeros() }
    });
    forms.extend(predicates());
    forms.extend(logic());
    forms.extend(permutations());
    forms
}

fn predicates() -> [Form; 5] {
    [
        one("and.pred %xp, %ap, %bp;", |[a, b, ..]| a & b & 1),
        one("or.pred %xp, %ap, %bp;", |[a, b, ..]| (a | b) & 1),
        one("xor.pred %xp, %ap, %bp;", |[a, b, ..]| (a ^ b) & 1),
        one("not.pred %xp, %ap;", |[a, ..]| !a & 1),
        one("mov.pred %xp, %ap;", |[a, ..]| a & 1),
    ]
}

fn logic() -> [Form; 10] {
    [
        one("lop3.b32 %x32, %a32, %b32, %c32, 0xE8;", |operands| lop3(0xE8, operands)),
        one("lop3.b32 %x32, %a32, %b32, %c32, 0x96;", |operands| lop3(0x96, operands)),
        one("lop3.b32 %x32, %a32, %b32, %c32, 0x1A;", |operands| lop3(0x1A, operands)),
        one("lop3.b32 %x32, %a32, %b32, %c32, 0;", |operands| lop3(0, operands)),
        one("lop3.b32 %x32, %a32, %b32, %c32, 255;", |operands| lop3(255, operands)),
        two("lop3.or.b32 %x32|%yp, %a32, %b32, %c32, 0x80, %dp;", |operands| {
            let result = lop3(0x80, operands);
            [result, u64::from(result != 0) | operands[3] & 1]
        }),
        two("lop3.and.b32 %x32|%yp, %a32, %b32, %c32, 0x3C, !%dp;", |operands| {
            let result = lop3(0x3C, operands);
            [result, u64::from(result != 0) & !operands[3]]
        }),
        one("lop3.and.b32 _|%xp, %a32, %b32, %c32, 0x01, %dp;", |operands| {
            u64::from(lop3(0x01, operands) != 0) & operands[3]
        }),
        one("shl.b32 %x32, %a32, 31;", |[a, ..]| u64::from(w(a) << 31)),
        one("shr.s32 %x32, %a32, 33;", |[a, ..]| u64::from(((a as i32) >> 31) as u32)),
    ]
}

fn permutations() -> [Form; 8] {
    [
        one("prmt.b32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            picked(a, b, [c >> 12 & 15, c >> 8 & 15, c >> 4 & 15, c & 15])
        }),
        one("prmt.b32 %x32, %a32, %b32, 0xF471;", |[a, b, ..]| picked(a, b, [15, 4, 7, 1])),
        one("prmt.b32.f4e %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            picked(a, b, [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]][c as usize & 3])
        }),
        one("prmt.b32.b4e %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            picked(a, b, [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]][c as usize & 3])
        }),
        one("prmt.b32.rc8 %x32, %a32, %b32, %c32;", |[a, b, c, _]| picked(a, b, [c & 3; 4])),
        one("prmt.b32.ecl %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            picked(a, b, [3, 2, 1, 0].map(|it: u64| it.max(c & 3)))
        }),
        one("prmt.b32.ecr %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            picked(a, b, [3, 2, 1, 0].map(|it: u64| it.min(c & 3)))
        }),
        one("prmt.b32.rc16 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            picked(a, b, if c & 1 == 0 { [1, 0, 1, 0] } else { [3, 2, 3, 2] })
        }),
    ]
}
