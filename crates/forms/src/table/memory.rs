//! Loads and stores in registers that are wider than the type. `%out+16` is an address of the thread's own.

use super::part::low;
use super::{Form, one, two};

/// What a store of the whole operand leaves behind is loaded as another type.
macro_rules! loaded {
    ($forms:ident, $bits:literal: $($ty:literal $rust:ident),*) => { $(
        $forms.push(one(
            concat!("st.global.b64 [%out+16], %a64; ld.global.", $ty, " %x", $bits, ", [%out+16];"),
            |[a, ..]| low(i128::from(a as $rust) as u64, $bits),
        ));
    )* };
}

pub(super) fn forms() -> Vec<Form> {
    let mut forms = vec![
        one("st.global.b64 [%out+16], 0; st.global.u8 [%out+16], %a64; ld.global.b64 %x64, [%out+16];", |[a, ..]| {
            low(a, 8)
        }),
        one("st.global.b64 [%out+16], -1; st.global.s16 [%out+18], %a32; ld.global.b64 %x64, [%out+16];", |[a, ..]| {
            0xFFFF_FFFF_0000_FFFF | low(a, 16) << 16
        }),
        one("st.global.b64 [%out+16], %a64; ld.global.b8 %x8, [%out+21];", |[a, ..]| low(a >> 40, 8)),
        one("st.global.v4.b8 [%out+16], {%a8, %b8, %c8, %d8}; ld.global.b32 %x32, [%out+16];", |operands| {
            operands.into_iter().rev().fold(0, |word, part| word << 8 | part & 0xFF)
        }),
        two("st.global.b64 [%out+16], %a64; ld.global.v4.s8 {%s32, %x32, _, %y32}, [%out+16];", |[a, ..]| {
            [a >> 8, a >> 24].map(|byte| u64::from(i32::from(byte as i8) as u32))
        }),
        two(
            "st.global.v2.b32 [%out+16], {%a32, %b32}; ld.global.v4.u16 {_, %x32, %s32, %y32}, [%out+16];",
            |[a, b, ..]| [low(a >> 16, 16), low(b >> 16, 16)],
        ),
        two(
            "mov.b128 %q, {%a64, %b64}; st.global.b128 [%out+16], %q; ld.global.v2.b64 {%x64, %y64}, [%out+16];",
            |[a, b, ..]| [a, b],
        ),
        two(
            "st.global.v2.b64 [%out+16], {%a64, %b64}; ld.global.b128 %q, [%out+16]; mov.b128 {%x64, %y64}, %q;",
            |[a, b, ..]| [a, b],
        ),
        one(
            "mov.b128 %q, {%a64, %b64}; st.global.b64 [%out+16], 0; st.global.u16 [%out+16], %q; ld.global.b64 %x64, [%out+16];",
            |[a, ..]| low(a, 16),
        ),
    ];
    loaded!(forms, 16: "u8" u8, "s8" i8, "b8" u8, "s16" i16);
    loaded!(forms, 32: "u8" u8, "s8" i8, "u16" u16, "s16" i16, "b16" u16, "u32" u32);
    loaded!(forms, 64: "u8" u8, "s8" i8, "u16" u16, "s16" i16, "u32" u32, "s32" i32, "b32" u32, "s64" i64);
    forms
}
