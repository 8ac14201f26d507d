//! Instructions that run for some threads only.

use super::part::{low, r, si, w};
use super::{Form, one, two};
use crate::form::INITIAL;

/// The result where the predicate is true, else what was there before.
fn if_odd(predicate: u64, value: u64, bits: u32) -> u64 {
    low(if predicate & 1 == 1 { value } else { INITIAL }, bits)
}

pub(super) fn forms() -> Vec<Form> {
    vec![
        one("@%cp add.u32 %x32, %a32, %b32;", |[a, b, c, _]| if_odd(c, a.wrapping_add(b), 32)),
        one("@!%cp sub.s64 %x64, %a64, %b64;", |[a, b, c, _]| if_odd(!c, a.wrapping_sub(b), 64)),
        one("@%cp mul.lo.u16 %x16, %a16, %b16;", |[a, b, c, _]| if_odd(c, a.wrapping_mul(b), 16)),
        one("@%dp mad.hi.s32 %x32, %a32, %b32, %c32;", |[a, b, c, d]| {
            let product = ((i64::from(si(a)) * i64::from(si(b))) >> 32) as i32;
            if_odd(d, r(product.wrapping_add(si(c))), 32)
        }),
        one("@%cp prmt.b32 %x32, %a32, %b32, 0x5410;", |[a, b, c, _]| if_odd(c, a & 0xFFFF | (b & 0xFFFF) << 16, 32)),
        one("@%bp popc.b64 %x32, %a64;", |[a, b, ..]| if_odd(b, u64::from(a.count_ones()), 32)),
        one("@!%bp cvt.s64.s8 %x64, %a32;", |[a, b, ..]| if_odd(!b, i64::from(a as i8) as u64, 64)),
        one("@%cp selp.b32 %x32, %a32, %b32, %cp;", |[a, _, c, _]| if_odd(c, a, 32)),
        one("@%cp setp.lt.u32 %xp, %a32, %b32;", |[a, b, c, _]| u64::from(w(a) < w(b)) & c),
        two("@!%cp setp.lt.u32 %xp|%yp, %a32, %b32;", |[a, b, c, _]| {
            [u64::from(w(a) < w(b)) & !c, u64::from(w(a) >= w(b)) & !c]
        }),
        // The predicate that guards the instruction is its result too.
        one("mov.pred %xp, %ap; @%xp setp.eq.u32 %xp, %b32, %c32;", |[a, b, c, _]| a & u64::from(w(b) == w(c))),
        two("@%bp mov.b64 {%x32, %y32}, %a64;", |[a, b, ..]| [if_odd(b, a, 32), if_odd(b, a >> 32, 32)]),
        one("@%bp mov.b32 %x32, 9; @!%bp mov.b32 %x32, %a32;", |[a, b, ..]| if b & 1 == 1 { 9 } else { low(a, 32) }),
        one("@%bp bra L; mov.b64 %x64, %a64; L:", |[a, b, ..]| if_odd(!b, a, 64)),
        one(
            "@%bp bra M; add.u64 %x64, %a64, 1; bra N; M: sub.u64 %x64, %a64, 1; N: not.b64 %x64, %x64;",
            |[a, b, ..]| !(if b & 1 == 1 { a.wrapping_sub(1) } else { a.wrapping_add(1) }),
        ),
    ]
}
