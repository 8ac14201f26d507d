//! Comparisons and choices.

use super::part::{h, low, si, w};
use super::{Form, one, two};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    each!(forms, all, holds, "eq", |a, b| a == b);
    each!(forms, all, holds, "ne", |a, b| a != b);
    each!(forms, all, holds, "lt", |a, b| a < b);
    each!(forms, all, holds, "le", |a, b| a <= b);
    each!(forms, all, holds, "gt", |a, b| a > b);
    each!(forms, all, holds, "ge", |a, b| a >= b);
    each!(forms, unsigned, holds, "lo", |a, b| a < b);
    each!(forms, unsigned, holds, "ls", |a, b| a <= b);
    each!(forms, unsigned, holds, "hi", |a, b| a > b);
    each!(forms, unsigned, holds, "hs", |a, b| a >= b);
    each!(forms, bits, holds, "eq", |a, b| a == b);
    each!(forms, bits, holds, "ne", |a, b| a != b);
    each!(forms, all, all_ones, "lt", |a, b| a < b);
    each!(forms, bits, all_ones, "ne", |a, b| a != b);
    forms.extend(combined());
    forms.extend(selections());
    forms
}

fn combined() -> [Form; 11] {
    [
        one("setp.lt.and.s32 %xp, %a32, %b32, %cp;", |[a, b, c, _]| u64::from(si(a) < si(b)) & c),
        one("setp.ge.or.u64 %xp, %a64, %b64, %cp;", |[a, b, c, _]| u64::from(a >= b) | c & 1),
        one("setp.ne.xor.u16 %xp, %a16, %b16, !%cp;", |[a, b, c, _]| u64::from(h(a) != h(b)) ^ !c & 1),
        two("setp.gt.s64 %xp|%yp, %a64, %b64;", |[a, b, ..]| {
            [u64::from(a as i64 > b as i64), u64::from(a as i64 <= b as i64)]
        }),
        two("setp.eq.and.u32 %xp|%yp, %a32, %b32, !%cp;", |[a, b, c, _]| {
            [u64::from(w(a) == w(b)) & !c, u64::from(w(a) != w(b)) & !c]
        }),
        two("setp.le.or.s16 %xp|%yp, %a16, %b16, %cp;", |[a, b, c, _]| {
            [u64::from(a as i16 <= b as i16) | c & 1, u64::from(a as i16 > b as i16) | c & 1]
        }),
        two("setp.lo.xor.u32 %xp|%yp, %a32, %b32, %cp;", |[a, b, c, _]| {
            [u64::from(w(a) < w(b)) ^ c & 1, u64::from(w(a) >= w(b)) ^ c & 1]
        }),
        one("setp.lt.u32 %xp, %a32, 0x80000000;", |[a, ..]| u64::from(w(a) < 0x8000_0000)),
        one(
            "set.gt.and.u32.s32 %x32, %a32, %b32, %cp;",
            |[a, b, c, _]| {
                if si(a) > si(b) && c & 1 == 1 { 0xFFFF_FFFF } else { 0 }
            },
        ),
        one(
            "set.eq.xor.s32.u64 %x32, %a64, %b64, !%cp;",
            |[a, b, c, _]| {
                if (a == b) ^ (c & 1 == 0) { 0xFFFF_FFFF } else { 0 }
            },
        ),
        one("set.le.f32.s32 %x32, %a32, %b32;", |[a, b, ..]| if si(a) <= si(b) { 0x3F80_0000 } else { 0 }),
    ]
}

fn selections() -> Vec<Form> {
    let mut forms = vec![
        one("selp.b32 %x32, %a32, %b32, !%cp;", |[a, b, c, _]| low(if c & 1 == 0 { a } else { b }, 32)),
        one("selp.s32 %x32, -1, 7, %ap;", |[a, ..]| if a & 1 == 1 { 0xFFFF_FFFF } else { 7 }),
    ];
    macro_rules! selected {
        ($($name:literal $bits:literal),*) => { $(
            forms.push(one(
                concat!("selp.", $name, " %x", $bits, ", %a", $bits, ", %b", $bits, ", %cp;"),
                |[a, b, c, _]| low(if c & 1 == 1 { a } else { b }, $bits),
            ));
            forms.push(one(
                concat!("slct.", $name, ".s32 %x", $bits, ", %a", $bits, ", %b", $bits, ", %c32;"),
                |[a, b, c, _]| low(if si(c) >= 0 { a } else { b }, $bits),
            ));
        )* };
    }
    selected!("b16" 16, "b32" 32, "b64" 64, "u16" 16, "u32" 32, "u64" 64, "s16" 16, "s32" 32, "s64" 64);
    selected!("f32" 32, "f64" 64);
    forms
}
