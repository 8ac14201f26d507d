//! Chains that carry from one instruction to the next.

use super::part::{low, w};
use super::{Form, one, two};

/// Two words as one number of twice as many bits.
fn long(low: u64, high: u64) -> u64 {
    u64::from(w(low)) | high << 32
}

fn halves(both: u64) -> [u64; 2] {
    [low(both, 32), both >> 32]
}

fn very_long(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

fn very_halves(both: u128) -> [u64; 2] {
    [both as u64, (both >> 64) as u64]
}

pub(super) fn forms() -> Vec<Form> {
    vec![
        two("add.cc.u32 %x32, %a32, %c32; addc.u32 %y32, %b32, %d32;", |[a, b, c, d]| {
            halves(long(a, b).wrapping_add(long(c, d)))
        }),
        two("add.cc.s32 %x32, %a32, %b32; addc.s32 %y32, 0, 0;", |[a, b, ..]| {
            halves(u64::from(w(a)) + u64::from(w(b)))
        }),
        two("sub.cc.u32 %x32, %a32, %c32; subc.u32 %y32, %b32, %d32;", |[a, b, c, d]| {
            halves(long(a, b).wrapping_sub(long(c, d)))
        }),
        two("sub.cc.s32 %x32, %a32, %b32; subc.s32 %y32, %c32, 0;", |[a, b, c, _]| {
            halves(long(a, c).wrapping_sub(u64::from(w(b))))
        }),
        two("add.cc.u64 %x64, %a64, %c64; addc.u64 %y64, %b64, %d64;", |[a, b, c, d]| {
            very_halves(very_long(a, b).wrapping_add(very_long(c, d)))
        }),
        two("sub.cc.u64 %x64, %a64, %c64; subc.u64 %y64, %b64, %d64;", |[a, b, c, d]| {
            very_halves(very_long(a, b).wrapping_sub(very_long(c, d)))
        }),
        two("add.cc.s64 %x64, %a64, %b64; addc.s64 %y64, %a64, %c64;", |[a, b, c, _]| {
            very_halves(very_long(a, a).wrapping_add(very_long(b, c)))
        }),
        // The carry of a sum to which one was added already.
        two("add.cc.u32 %s32, %a32, %b32; addc.cc.u32 %x32, %c32, %d32; addc.u32 %y32, 0, 0;", |[a, b, c, d]| {
            let carry = (u64::from(w(a)) + u64::from(w(b))) >> 32;
            halves(u64::from(w(c)) + u64::from(w(d)) + carry)
        }),
        two("sub.cc.u32 %s32, %a32, %b32; subc.cc.u32 %x32, %c32, %d32; subc.u32 %y32, 0, 0;", |[a, b, c, d]| {
            let borrow = u64::from(w(a) < w(b));
            let all = u64::from(w(c)).wrapping_sub(u64::from(w(d))).wrapping_sub(borrow);
            halves(all)
        }),
        two("add.cc.u64 %s64, %a64, %b64; addc.cc.u64 %x64, %c64, %d64; addc.u64 %y64, 0, 0;", |[a, b, c, d]| {
            let carry = (u128::from(a) + u128::from(b)) >> 64;
            very_halves(u128::from(c) + u128::from(d) + carry)
        }),
        two("sub.cc.u64 %s64, %a64, %b64; subc.cc.u64 %x64, %c64, %d64; subc.u64 %y64, 0, 0;", |[a, b, c, d]| {
            let borrow = u128::from(a < b);
            very_halves(u128::from(c).wrapping_sub(u128::from(d)).wrapping_sub(borrow))
        }),
        two("mad.lo.cc.u32 %x32, %a32, %b32, %c32; madc.hi.u32 %y32, %a32, %b32, %d32;", |[a, b, c, d]| {
            halves((u64::from(w(a)) * u64::from(w(b))).wrapping_add(long(c, d)))
        }),
        two("mad.lo.cc.s32 %x32, %a32, %b32, %c32; madc.hi.s32 %y32, %a32, %b32, %d32;", |[a, b, c, d]| {
            let product = i64::from(a as i32) * i64::from(b as i32);
            halves((product as u64).wrapping_add(long(c, d)))
        }),
        two("mad.lo.cc.u64 %x64, %a64, %b64, %c64; madc.hi.u64 %y64, %a64, %b64, %d64;", |[a, b, c, d]| {
            very_halves((u128::from(a) * u128::from(b)).wrapping_add(very_long(c, d)))
        }),
        two("mad.lo.cc.s64 %x64, %a64, %b64, %c64; madc.hi.s64 %y64, %a64, %b64, %d64;", |[a, b, c, d]| {
            let product = i128::from(a as i64) * i128::from(b as i64);
            very_halves((product as u128).wrapping_add(very_long(c, d)))
        }),
        two("mad.hi.cc.u32 %x32, %a32, %b32, %c32; addc.u32 %y32, 0, 0;", |[a, b, c, _]| {
            halves(((u64::from(w(a)) * u64::from(w(b))) >> 32) + u64::from(w(c)))
        }),
        two(
            "add.cc.u32 %s32, %a32, %b32; madc.lo.cc.u32 %x32, %c32, %d32, %a32; addc.u32 %y32, 0, 0;",
            |[a, b, c, d]| {
                let carry = (u64::from(w(a)) + u64::from(w(b))) >> 32;
                halves(u64::from(w(c).wrapping_mul(w(d))) + u64::from(w(a)) + carry)
            },
        ),
        // The flag is the carry of a sum: a difference that borrows clears it.
        two("add.cc.u32 %x32, %a32, %b32; subc.u32 %y32, %c32, %d32;", |[a, b, c, d]| {
            let (sum, carry) = w(a).overflowing_add(w(b));
            [sum.into(), w(c).wrapping_sub(w(d)).wrapping_sub((!carry).into()).into()]
        }),
        two("sub.cc.u32 %x32, %a32, %b32; addc.u32 %y32, %c32, %d32;", |[a, b, c, d]| {
            let (difference, borrow) = w(a).overflowing_sub(w(b));
            [difference.into(), w(c).wrapping_add(w(d)).wrapping_add((!borrow).into()).into()]
        }),
        two("mad.lo.cc.u32 %x32, %a32, %b32, %c32; subc.u32 %y32, %d32, 0;", |[a, b, c, d]| {
            let (sum, carry) = w(a).wrapping_mul(w(b)).overflowing_add(w(c));
            [sum.into(), w(d).wrapping_sub((!carry).into()).into()]
        }),
        // What lies between does not touch the flag.
        one("add.cc.u32 %s32, %a32, %b32; mul.lo.u32 %t32, %a32, %b32; addc.u32 %x32, %t32, 0;", |[a, b, ..]| {
            let carry = w(a).overflowing_add(w(b)).1;
            u64::from(w(a).wrapping_mul(w(b)).wrapping_add(carry.into()))
        }),
        // Where the guard does not hold, the flag stays as it was.
        one("add.cc.u32 %s32, %a32, %b32; @%cp add.cc.u32 %s32, %b32, %b32; addc.u32 %x32, 0, 0;", |[a, b, c, _]| {
            let first = if c & 1 == 1 { w(b) } else { w(a) };
            u64::from(first.overflowing_add(w(b)).1)
        }),
    ]
}
