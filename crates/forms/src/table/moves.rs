//! Moves, of parts and of vectors.

use super::part::{h, low};
use super::{Form, one, two};

pub(super) fn forms() -> Vec<Form> {
    vec![
        one("mov.b16 %x16, %a16;", |[a, ..]| low(a, 16)),
        one("mov.u32 %x32, %a32;", |[a, ..]| low(a, 32)),
        one("mov.s64 %x64, %a64;", |[a, ..]| a),
        one("mov.b32 %x32, {%a16, %b16};", |[a, b, ..]| u64::from(h(a)) | u64::from(h(b)) << 16),
        one("mov.b64 %x64, {%a32, %b32};", |[a, b, ..]| low(a, 32) | b << 32),
        one("mov.b64 %x64, {%a16, %b16, %c16, %d16};", |[a, b, c, d]| {
            [d, c, b, a].into_iter().fold(0, |word, part| word << 16 | u64::from(h(part)))
        }),
        one("mov.b16 %x16, {%a8, %b8};", |[a, b, ..]| a & 0xFF | (b & 0xFF) << 8),
        one("mov.b32 %x32, {%a8, %b8, %c8, %d8};", |[a, b, c, d]| {
            [d, c, b, a].into_iter().fold(0, |word, part| word << 8 | part & 0xFF)
        }),
        two("mov.b32 {%x16, %y16}, %a32;", |[a, ..]| [low(a, 16), low(a >> 16, 16)]),
        two("mov.b64 {%x32, %y32}, %a64;", |[a, ..]| [low(a, 32), a >> 32]),
        one("mov.b64 {_, %x32}, %a64;", |[a, ..]| a >> 32),
        two("mov.b64 {%s16, %x16, %t16, %y16}, %a64;", |[a, ..]| [low(a >> 16, 16), a >> 48]),
        two("mov.b16 {%x8, %y8}, %a16;", |[a, ..]| [low(a, 8), low(a >> 8, 8)]),
        two("mov.b32 {%s8, %x8, %t8, %y8}, %a32;", |[a, ..]| [low(a >> 8, 8), low(a >> 24, 8)]),
        two("mov.b64 %x64, %a64; mov.b64 %y64, %b64; mov.v2.b64 {%x64, %y64}, {%y64, %x64};", |[a, b, ..]| [b, a]),
        two("mov.b128 %q, {%a64, %b64}; mov.b128 {%x64, %y64}, %q;", |[a, b, ..]| [a, b]),
        two("mov.b128 %q, {%a32, %b32, %c32, %d32}; mov.b128 %w, %q; mov.b128 {%x64, %y64}, %w;", |[a, b, c, d]| {
            [low(a, 32) | b << 32, low(c, 32) | d << 32]
        }),
        two("mov.b128 %q, {%a64, %b64}; mov.b128 {%s32, %x32, %t32, %y32}, %q;", |[a, b, ..]| [a >> 32, b >> 32]),
        two(
            "mov.b128 %q, {%a64, %b64}; mov.b128 %w, {%b64, %a64}; @%cp mov.b128 %q, %w; mov.b128 {%x64, %y64}, %q;",
            |[a, b, c, _]| if c & 1 == 1 { [b, a] } else { [a, b] },
        ),
    ]
}
