//! Fields of bits.

use super::part::{low, r, w};
use super::{Form, one};

/// A start or a length: of a field in 32 bits the hardware takes the low byte, in 64 the whole number.
fn part(operand: u64, width: u64) -> u64 {
    if width == 32 { operand & 0xFF } else { low(operand, 32) }
}

/// `bfe`, bit by bit: `width` bits of which the highest is a sign or not.
fn extract(a: u64, start: u64, length: u64, width: u64, signed: bool) -> u64 {
    let (start, length) = (part(start, width), part(length, width));
    let sign = if signed && length != 0 { a >> (start + length - 1).min(width - 1) & 1 } else { 0 };
    let bit = |at: u64| if at < length && start + at < width { a >> (start + at) & 1 } else { sign };
    (0..width).map(|at| bit(at) << at).sum()
}

/// `bfi`, bit by bit.
fn insert(a: u64, b: u64, start: u64, length: u64, width: u64) -> u64 {
    let (start, length) = (part(start, width), part(length, width));
    let bit = |at: u64| if (start..start + length).contains(&at) { a >> (at - start) & 1 } else { b >> at & 1 };
    (0..width).map(|at| bit(at) << at).sum()
}

/// `bmsk`, bit by bit.
fn mask(start: u64, length: u64) -> u64 {
    (0..32).filter(|at| *at >= start && *at < start + length).map(|at| 1 << at).sum()
}

/// `szext`, bit by bit.
fn extend(a: u64, length: u64, signed: bool) -> u64 {
    let sign = if signed && length != 0 { a >> (length - 1) & 1 } else { 0 };
    (0..32).map(|at| if at < length { a >> at & 1 } else { sign } << at).sum()
}

/// `shf`: two words shifted.
fn both(a: u64, b: u64) -> u64 {
    low(a, 32) | b << 32
}

/// `fns`, one bit after the other.
fn nth_set(mask: u64, base: u64, count: i32) -> u64 {
    let is_set = |at: i64| mask >> at & 1 == 1;
    let base = base as i64;
    let found = match count {
        // The hardware cannot count that far down and gives up before it looks.
        i32::MIN => Some(0),
        0 => Some(base).filter(|base| is_set(*base)),
        1.. => (base..32).filter(|at| is_set(*at)).nth(count as usize - 1),
        _ => (0..=base).rev().filter(|at| is_set(*at)).nth(count.unsigned_abs() as usize - 1),
    };
    found.map_or(0xFFFF_FFFF, |at| at as u64)
}

pub(super) fn forms() -> Vec<Form> {
    vec![
        one("bfe.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| extract(low(a, 32), b, c, 32, false)),
        one("bfe.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| extract(low(a, 32), b, c, 32, true)),
        one("bfe.u64 %x64, %a64, %b32, %c32;", |[a, b, c, _]| extract(a, b, c, 64, false)),
        one("bfe.s64 %x64, %a64, %b32, %c32;", |[a, b, c, _]| extract(a, b, c, 64, true)),
        one("bfe.s32 %x32, %a32, 7, 9;", |[a, ..]| r((a as i32) << 16 >> 23)),
        one("bfi.b32 %x32, %a32, %b32, %c32, %d32;", |[a, b, c, d]| insert(a, b, c, d, 32)),
        one("bfi.b64 %x64, %a64, %b64, %c32, %d32;", |[a, b, c, d]| insert(a, b, c, d, 64)),
        one("bfi.b32 %x32, %a32, %b32, 5, 11;", |[a, b, ..]| low(b & !0xFFE0 | a << 5 & 0xFFE0, 32)),
        one("bmsk.clamp.b32 %x32, %a32, %b32;", |[a, b, ..]| mask(low(a, 32), low(b, 32))),
        one("bmsk.wrap.b32 %x32, %a32, %b32;", |[a, b, ..]| mask(a & 31, b & 31)),
        one("szext.clamp.u32 %x32, %a32, %b32;", |[a, b, ..]| extend(a, low(b, 32).min(32), false)),
        one("szext.clamp.s32 %x32, %a32, %b32;", |[a, b, ..]| extend(a, low(b, 32).min(32), true)),
        one("szext.wrap.u32 %x32, %a32, %b32;", |[a, b, ..]| extend(a, b & 31, false)),
        one("szext.wrap.s32 %x32, %a32, %b32;", |[a, b, ..]| extend(a, b & 31, true)),
        // The manual leaves it open what a base of 32 or more does.
        one("and.b32 %s32, %b32, 31; fns.b32 %x32, %a32, %s32, %c32;", |[a, b, c, _]| nth_set(a, b & 31, c as i32)),
        one("and.b32 %s32, %b32, 31; bfe.s32 %t32, %c32, 0, 5; fns.b32 %x32, %a32, %s32, %t32;", |[a, b, c, _]| {
            nth_set(a, b & 31, (c as i32) << 27 >> 27)
        }),
        one("shf.l.wrap.b32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| both(a, b) << (c & 31) >> 32),
        one("shf.r.wrap.b32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| low(both(a, b) >> (c & 31), 32)),
        one("shf.l.clamp.b32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| both(a, b) << w(c).min(32) >> 32),
        one("shf.r.clamp.b32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| low(both(a, b) >> w(c).min(32), 32)),
        one("shf.l.clamp.b32 %x32, %a32, %b32, 32;", |[a, ..]| low(a, 32)),
    ]
}
