//! Conversions between integers, also in registers that are wider than the type.

use super::{Form, one};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    // The result fills the register, extended as its own type says.
    macro_rules! converted {
        ($($to:literal $to_ty:ident, $from:literal $from_ty:ident $from_bits:literal);* $(;)?) => { $(
            forms.push(one(concat!("cvt.", $to, ".", $from, " %x64, %a", $from_bits, ";"), |[a, ..]| {
                i128::from(a as $from_ty as $to_ty) as u64
            }));
        )* };
    }
    macro_rules! saturated {
        ($($to:literal $to_ty:ident, $from:literal $from_ty:ident $from_bits:literal);* $(;)?) => { $(
            forms.push(one(concat!("cvt.sat.", $to, ".", $from, " %x64, %a", $from_bits, ";"), |[a, ..]| {
                i128::from(a as $from_ty).clamp($to_ty::MIN.into(), $to_ty::MAX.into()) as u64
            }));
        )* };
    }
    macro_rules! from_each {
        ($($to:literal $to_ty:ident),*) => { $(
            converted!($to $to_ty, "u8" u8 32; $to $to_ty, "s8" i8 32; $to $to_ty, "u16" u16 16; $to $to_ty, "s16" i16 16);
            converted!($to $to_ty, "u32" u32 32; $to $to_ty, "s32" i32 32; $to $to_ty, "u64" u64 64; $to $to_ty, "s64" i64 64);
        )* };
    }
    from_each!("u8" u8, "s8" i8, "u16" u16, "s16" i16, "u32" u32, "s32" i32, "u64" u64, "s64" i64);
    // `.sat` is for types that do not hold every value.
    macro_rules! saturated_to {
        ($from:literal $from_ty:ident $from_bits:literal: $($to:literal $to_ty:ident),*) => {
            $( saturated!($to $to_ty, $from $from_ty $from_bits); )*
        };
    }
    saturated_to!("u16" u16 16: "u8" u8, "s8" i8, "s16" i16);
    saturated_to!("s16" i16 16: "u8" u8, "s8" i8, "u16" u16, "u32" u32, "u64" u64);
    saturated_to!("u32" u32 32: "u8" u8, "s8" i8, "u16" u16, "s16" i16, "s32" i32);
    saturated_to!("s32" i32 32: "u8" u8, "s8" i8, "u16" u16, "s16" i16, "u32" u32, "u64" u64);
    saturated_to!("u64" u64 64: "u8" u8, "s8" i8, "u16" u16, "s16" i16, "u32" u32, "s32" i32, "s64" i64);
    saturated_to!("s64" i64 64: "u8" u8, "s8" i8, "u16" u16, "s16" i16, "u32" u32, "s32" i32, "u64" u64);
    saturated_to!("u8" u8 32: "s8" i8);
    saturated_to!("s8" i8 32: "u8" u8, "u16" u16, "u64" u64);
    forms.extend([
        one("cvt.s8.s32 %x32, %a32;", |[a, ..]| u64::from(i32::from(a as i8) as u32)),
        one("cvt.u8.u32 %x16, %a32;", |[a, ..]| u64::from(a as u8)),
        one("cvt.s8.s16 %x16, %a16;", |[a, ..]| u64::from(i16::from(a as i8) as u16)),
        one("cvt.u32.u8 %x32, %a8;", |[a, ..]| u64::from(a as u8)),
        one("cvt.s32.s8 %x32, %a8;", |[a, ..]| u64::from(i32::from(a as i8) as u32)),
        one("cvt.u8.u64 %x8, %a64;", |[a, ..]| u64::from(a as u8)),
        one("cvt.s16.s16 %x16, %a64;", |[a, ..]| u64::from(a as u16)),
        one("cvt.u32.u32 %x32, %a64;", |[a, ..]| u64::from(a as u32)),
    ]);
    forms
}
