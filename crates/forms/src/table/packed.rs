//! Two integers of 16 bits side by side.

use super::{Form, one, since};

/// A function of halves, of both halves.
fn both(a: u64, b: u64, of: fn(u16, u16) -> u16) -> u64 {
    u64::from(of(a as u16, b as u16)) | u64::from(of((a >> 16) as u16, (b >> 16) as u16)) << 16
}

fn signed(a: u16, b: u16, of: fn(i16, i16) -> i16) -> u16 {
    of(a as i16, b as i16) as u16
}

pub(super) fn forms() -> Vec<Form> {
    let forms = [
        one("add.u16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, u16::wrapping_add)),
        one("add.s16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, u16::wrapping_add)),
        one("min.u16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, u16::min)),
        one("max.u16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, u16::max)),
        one("min.s16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, |a, b| signed(a, b, i16::min))),
        one("max.s16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, |a, b| signed(a, b, i16::max))),
        one("min.relu.s16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, |a, b| signed(a, b, |a, b| a.min(b).max(0)))),
        one("max.relu.s16x2 %x32, %a32, %b32;", |[a, b, ..]| both(a, b, |a, b| signed(a, b, |a, b| a.max(b).max(0)))),
    ];
    forms.map(|form| since(90, form)).into()
}
