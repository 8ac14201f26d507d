//! Sums, differences, quotients and choices.

use super::part::{h, r, si, w};
use super::{Form, one};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    each!(forms, all, 2, "add", |a, b| a.wrapping_add(b));
    each!(forms, all, 2, "sub", |a, b| a.wrapping_sub(b));
    each!(forms, all, 2, "min", |a, b| a.min(b));
    each!(forms, all, 2, "max", |a, b| a.max(b));
    each!(forms, signed, 1, "neg", |a| a.wrapping_neg());
    each!(forms, signed, 1, "abs", |a| a.wrapping_abs());
    // The manual leaves a division by zero open: these are the results of the hardware.
    each!(forms, unsigned, 2, "div", |a, b| a.checked_div(b).unwrap_or(!0));
    each!(forms, signed, 2, "div", |a, b| if b == 0 { -1 } else { a.wrapping_div(b) });
    each!(forms, unsigned, 2, "rem", |a, b| a.checked_rem(b).unwrap_or(!0));
    each!(forms, signed, 2, "rem", |a, b| if b == 0 { -1 } else { a.wrapping_rem(b) });
    forms.extend(
        [
            one("add.sat.s32 %x32, %a32, %b32;", |[a, b, ..]| r(si(a).saturating_add(si(b)))),
            one("sub.sat.s32 %x32, %a32, %b32;", |[a, b, ..]| r(si(a).saturating_sub(si(b)))),
            one("add.u32 %x32, %a32, 0x80000001;", |[a, ..]| u64::from(w(a).wrapping_add(0x8000_0001))),
            one("sub.s16 %x16, -3, %a16;", |[a, ..]| u64::from(0xFFFD_u16.wrapping_sub(h(a)))),
            one("sad.u16 %x16, %a16, %b16, %c16;", |[a, b, c, _]| u64::from(h(c).wrapping_add(h(a).abs_diff(h(b))))),
            one("sad.s16 %x16, %a16, %b16, %c16;", |[a, b, c, _]| {
                u64::from(h(c).wrapping_add((a as i16).abs_diff(b as i16)))
            }),
            one("sad.u32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| u64::from(w(c).wrapping_add(w(a).abs_diff(w(b))))),
            one("sad.s32 %x32, %a32, %b32, %c32;", |[a, b, c, _]| u64::from(w(c).wrapping_add(si(a).abs_diff(si(b))))),
            one("sad.u64 %x64, %a64, %b64, %c64;", |[a, b, c, _]| c.wrapping_add(a.abs_diff(b))),
            one("sad.s64 %x64, %a64, %b64, %c64;", |[a, b, c, _]| c.wrapping_add((a as i64).abs_diff(b as i64))),
            one("min.relu.s32 %x32, %a32, %b32;", |[a, b, ..]| r(si(a).min(si(b)).max(0))),
            one("max.relu.s32 %x32, %a32, %b32;", |[a, b, ..]| r(si(a).max(si(b)).max(0))),
        ]
        .into_iter()
        .map(|form| if form.text.contains(".relu") { super::since(90, form) } else { form }),
    );
    forms
}
