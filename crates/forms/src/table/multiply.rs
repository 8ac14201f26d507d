//! Products.

use super::part::{h, low, r, si, w};
use super::{Form, one};

/// The upper half of a product.
trait High {
    fn high(self, other: Self) -> Self;
}

macro_rules! high {
    ($($ty:ty, $wide:ty);*) => { $(
        impl High for $ty {
            fn high(self, other: Self) -> Self {
                ((<$wide>::from(self) * <$wide>::from(other)) >> <$ty>::BITS) as $ty
            }
        }
    )* };
}

high!(u16, u32; i16, i32; u32, u64; i32, i64; u64, u128; i64, i128);

/// The low 24 bits as a number.
fn u24(word: u64) -> u64 {
    low(word, 24)
}

fn s24(word: u64) -> i64 {
    (word << 40).cast_signed() >> 40
}

fn saturated(sum: i64) -> u64 {
    r(sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    each!(forms, all, 2, "mul.lo", |a, b| a.wrapping_mul(b));
    each!(forms, all, 2, "mul.hi", |a, b| a.high(b));
    each!(forms, all, 3, "mad.lo", |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    each!(forms, all, 3, "mad.hi", |a, b, c| a.high(b).wrapping_add(c));
    forms.extend([
        one("mul.wide.u16 %x32, %a16, %b16;", |[a, b, ..]| u64::from(h(a)) * u64::from(h(b))),
        one("mul.wide.s16 %x32, %a16, %b16;", |[a, b, ..]| r(i32::from(a as i16) * i32::from(b as i16))),
        one("mul.wide.u32 %x64, %a32, %b32;", |[a, b, ..]| u64::from(w(a)) * u64::from(w(b))),
        one("mul.wide.s32 %x64, %a32, %b32;", |[a, b, ..]| (i64::from(si(a)) * i64::from(si(b))) as u64),
        one("mad.wide.u16 %x32, %a16, %b16, %c32;", |[a, b, c, _]| {
            low((u64::from(h(a)) * u64::from(h(b))).wrapping_add(c), 32)
        }),
        one("mad.wide.s16 %x32, %a16, %b16, %c32;", |[a, b, c, _]| {
            r((i32::from(a as i16) * i32::from(b as i16)).wrapping_add(si(c)))
        }),
        one("mad.wide.u32 %x64, %a32, %b32, %c64;", |[a, b, c, _]| (u64::from(w(a)) * u64::from(w(b))).wrapping_add(c)),
        one("mad.wide.s32 %x64, %a32, %b32, %c64;", |[a, b, c, _]| {
            (i64::from(si(a)) * i64::from(si(b))).wrapping_add(c as i64) as u64
        }),
        one("mad.hi.sat.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            saturated(((i64::from(si(a)) * i64::from(si(b))) >> 32) + i64::from(si(c)))
        }),
        one("mul24.lo.u32 %x32, %a32, %b32;", |[a, b, ..]| low(u24(a) * u24(b), 32)),
        one("mul24.hi.u32 %x32, %a32, %b32;", |[a, b, ..]| (u24(a) * u24(b)) >> 16),
        one("mul24.lo.s32 %x32, %a32, %b32;", |[a, b, ..]| r((s24(a) * s24(b)) as i32)),
        one("mul24.hi.s32 %x32, %a32, %b32;", |[a, b, ..]| r(((s24(a) * s24(b)) >> 16) as i32)),
        one("mad24.lo.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| low((u24(a) * u24(b)).wrapping_add(c), 32)),
        one("mad24.hi.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| low(((u24(a) * u24(b)) >> 16).wrapping_add(c), 32)),
        one("mad24.lo.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| r((s24(a) * s24(b) + i64::from(si(c))) as i32)),
        one("mad24.hi.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            r((((s24(a) * s24(b)) >> 16) + i64::from(si(c))) as i32)
        }),
        one("mad24.hi.sat.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            saturated(((s24(a) * s24(b)) >> 16) + i64::from(si(c)))
        }),
        one("dp4a.u32.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(bytes(a)[place]) * i64::from(bytes(b)[place]), 4)
        }),
        one("dp4a.s32.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(bytes(a)[place] as i8) * i64::from(bytes(b)[place] as i8), 4)
        }),
        one("dp4a.u32.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(bytes(a)[place]) * i64::from(bytes(b)[place] as i8), 4)
        }),
        one("dp4a.s32.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(bytes(a)[place] as i8) * i64::from(bytes(b)[place]), 4)
        }),
        one("dp2a.lo.u32.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(halves(a)[place]) * i64::from(bytes(b)[place]), 2)
        }),
        one("dp2a.hi.u32.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(halves(a)[place]) * i64::from(bytes(b)[place + 2]), 2)
        }),
        one("dp2a.lo.s32.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(halves(a)[place] as i16) * i64::from(bytes(b)[place] as i8), 2)
        }),
        one("dp2a.hi.s32.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(halves(a)[place] as i16) * i64::from(bytes(b)[place + 2] as i8), 2)
        }),
        one("dp2a.lo.u32.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(halves(a)[place]) * i64::from(bytes(b)[place] as i8), 2)
        }),
        one("dp2a.hi.s32.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| {
            dot(w(c), |place| i64::from(halves(a)[place] as i16) * i64::from(bytes(b)[place + 2]), 2)
        }),
    ]);
    forms
}

fn bytes(word: u64) -> [u8; 4] {
    w(word).to_le_bytes()
}

fn halves(word: u64) -> [u16; 2] {
    [h(word), h(word >> 16)]
}

fn dot(start: u32, product: impl Fn(usize) -> i64, count: usize) -> u64 {
    low((0..count).fold(i64::from(start), |sum, place| sum + product(place)) as u64, 32)
}
