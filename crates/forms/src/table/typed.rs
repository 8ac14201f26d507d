//! One line for the same instruction on several types.

/// Pushes the forms of an instruction: on which types, with how many operands, its name, and what it computes of values
/// of a type.
macro_rules! each {
    ($forms:ident, all, $($rest:tt)*) => {
        each!($forms, unsigned, $($rest)*);
        each!($forms, signed, $($rest)*);
    };
    ($forms:ident, large, $($rest:tt)*) => {
        typed!($forms, "u32" 32 u32 u32, $($rest)*);
        typed!($forms, "s32" 32 i32 u32, $($rest)*);
        typed!($forms, "u64" 64 u64 u64, $($rest)*);
        typed!($forms, "s64" 64 i64 u64, $($rest)*);
    };
    ($forms:ident, unsigned, $($rest:tt)*) => {
        typed!($forms, "u16" 16 u16 u16, $($rest)*);
        typed!($forms, "u32" 32 u32 u32, $($rest)*);
        typed!($forms, "u64" 64 u64 u64, $($rest)*);
    };
    ($forms:ident, signed, $($rest:tt)*) => {
        typed!($forms, "s16" 16 i16 u16, $($rest)*);
        typed!($forms, "s32" 32 i32 u32, $($rest)*);
        typed!($forms, "s64" 64 i64 u64, $($rest)*);
    };
    ($forms:ident, bits, $($rest:tt)*) => {
        typed!($forms, "b16" 16 u16 u16, $($rest)*);
        typed!($forms, "b32" 32 u32 u32, $($rest)*);
        typed!($forms, "b64" 64 u64 u64, $($rest)*);
    };
}

macro_rules! typed {
    ($forms:ident, $name:literal $bits:literal $ty:ident $un:ident, 1, $op:literal, $f:expr) => {
        $forms.push(one(concat!($op, ".", $name, " %x", $bits, ", %a", $bits, ";"), |[a, ..]| {
            let f: fn($ty) -> $ty = $f;
            u64::from(f(a as $ty) as $un)
        }));
    };
    ($forms:ident, $name:literal $bits:literal $ty:ident $un:ident, 2, $op:literal, $f:expr) => {
        $forms.push(one(concat!($op, ".", $name, " %x", $bits, ", %a", $bits, ", %b", $bits, ";"), |[a, b, ..]| {
            let f: fn($ty, $ty) -> $ty = $f;
            u64::from(f(a as $ty, b as $ty) as $un)
        }));
    };
    ($forms:ident, $name:literal $bits:literal $ty:ident $un:ident, 3, $op:literal, $f:expr) => {
        $forms.push(one(
            concat!($op, ".", $name, " %x", $bits, ", %a", $bits, ", %b", $bits, ", %c", $bits, ";"),
            |[a, b, c, _]| {
                let f: fn($ty, $ty, $ty) -> $ty = $f;
                u64::from(f(a as $ty, b as $ty, c as $ty) as $un)
            },
        ));
    };
    // A value and an amount of 32 bits.
    ($forms:ident, $name:literal $bits:literal $ty:ident $un:ident, shift, $op:literal, $f:expr) => {
        $forms.push(one(concat!($op, ".", $name, " %x", $bits, ", %a", $bits, ", %b32;"), |[a, b, ..]| {
            let f: fn($ty, u32) -> $ty = $f;
            u64::from(f(a as $ty, b as u32) as $un)
        }));
    };
    // A number that is counted.
    ($forms:ident, $name:literal $bits:literal $ty:ident $un:ident, count, $op:literal, $f:expr) => {
        $forms.push(one(concat!($op, ".", $name, " %x32, %a", $bits, ";"), |[a, ..]| {
            let f: fn($ty) -> u32 = $f;
            u64::from(f(a as $ty))
        }));
    };
    // A relation, as `setp` says it.
    ($forms:ident, $name:literal $bits:literal $ty:ident $un:ident, holds, $op:literal, $f:expr) => {
        $forms.push(one(concat!("setp.", $op, ".", $name, " %xp, %a", $bits, ", %b", $bits, ";"), |[a, b, ..]| {
            let f: fn(&$ty, &$ty) -> bool = $f;
            u64::from(f(&(a as $ty), &(b as $ty)))
        }));
    };
    // A relation, as `set` says it.
    ($forms:ident, $name:literal $bits:literal $ty:ident $un:ident, all_ones, $op:literal, $f:expr) => {
        $forms.push(one(concat!("set.", $op, ".u32.", $name, " %x32, %a", $bits, ", %b", $bits, ";"), |[a, b, ..]| {
            let f: fn(&$ty, &$ty) -> bool = $f;
            if f(&(a as $ty), &(b as $ty)) { 0xFFFF_FFFF } else { 0 }
        }));
    };
}
