//! Comparisons of floating-point numbers, the smaller and the larger, and signs.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use super::numbers::{DOUBLE, HALF, SINGLE, number};
use crate::form::Form;
use crate::reference::{BF16, F16, F32, F64, Shape};

/// The low bits of a word, as many as a number has.
fn bits(shape: Shape, word: u64) -> u64 {
    word << (64 - shape.bits) >> (64 - shape.bits)
}

macro_rules! compared {
    ($forms:ident, $($name:literal $holds:pat),*) => { $(
        compared!($forms, $name $holds, "f32" "32" SINGLE F32 75);
        compared!($forms, $name $holds, "f64" "64" DOUBLE F64 75);
        compared!($forms, $name $holds, "f16" "16" HALF F16 75);
        compared!($forms, $name $holds, "bf16" "16" HALF BF16 90);
    )* };
    ($forms:ident, $name:literal $holds:pat, $ty:literal $width:literal $edges:ident $shape:ident $sm:literal) => {
        let text = concat!("setp.", $name, ".", $ty, " %xp, %a", $width, ", %b", $width, ";");
        $forms.push(number($edges, $sm, text, |[a, b, ..]| {
            let order: Option<Ordering> = $shape.value(bits($shape, a)).partial_cmp(&$shape.value(bits($shape, b)));
            let $holds = order else { return 0 };
            1
        }));
    };
}

/// The smaller or the larger of two numbers, of which -0.0 is less than 0.0.
fn extreme(shape: Shape, largest: bool, nan: bool, a: u64, b: u64) -> u64 {
    match (shape.is_nan(a), shape.is_nan(b)) {
        (true, true) => shape.nan(),
        (true, false) | (false, true) if nan => shape.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let (x, y) = (shape.value(a), shape.value(b));
            let is_less = x < y || x == y && x.is_sign_negative();
            if is_less == largest { b } else { a }
        }
    }
}

macro_rules! extremes {
    ($forms:ident, $ty:literal $width:literal $edges:ident $shape:ident $sm:literal) => {
        extremes!($forms, $ty $width $edges $shape, "min" false $sm, "max" true $sm);
    };
    ($forms:ident, $ty:literal $width:literal $edges:ident $shape:ident, $($name:literal $largest:literal $sm:literal),*) => { $(
        let plain = concat!($name, ".", $ty, " %x", $width, ", %a", $width, ", %b", $width, ";");
        $forms.push(number($edges, $sm, plain, |[a, b, ..]| {
            extreme($shape, $largest, false, bits($shape, a), bits($shape, b))
        }));
        let with_nan = concat!($name, ".NaN.", $ty, " %x", $width, ", %a", $width, ", %b", $width, ";");
        $forms.push(number($edges, 80, with_nan, |[a, b, ..]| {
            extreme($shape, $largest, true, bits($shape, a), bits($shape, b))
        }));
    )* };
}

macro_rules! signs {
    ($forms:ident, $($ty:literal $width:literal $edges:ident $shape:ident $sm:literal),*) => { $(
        $forms.push(number($edges, $sm, concat!("neg.", $ty, " %x", $width, ", %a", $width, ";"), |[a, ..]| {
            let number = bits($shape, a);
            if $shape.is_nan(number) { $shape.nan() } else { number ^ $shape.sign() }
        }));
        $forms.push(number($edges, $sm, concat!("abs.", $ty, " %x", $width, ", %a", $width, ";"), |[a, ..]| {
            let number = bits($shape, a);
            if $shape.is_nan(number) { $shape.nan() } else { number & !$shape.sign() }
        }));
    )* };
}

/// One as `one`, if a number is less than another.
fn one_if(one: u64, shape: Shape, a: u64, b: u64) -> u64 {
    if shape.value(bits(shape, a)) < shape.value(bits(shape, b)) { one } else { 0 }
}

/// The forms of this file.
pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    compared!(
        forms,
        "eq" Some(Equal),
        "ne" Some(Less | Greater),
        "lt" Some(Less),
        "le" Some(Less | Equal),
        "gt" Some(Greater),
        "ge" Some(Greater | Equal),
        "equ" (None | Some(Equal)),
        "neu" (None | Some(Less | Greater)),
        "ltu" (None | Some(Less)),
        "leu" (None | Some(Less | Equal)),
        "gtu" (None | Some(Greater)),
        "geu" (None | Some(Greater | Equal)),
        "num" Some(_),
        "nan" None
    );
    extremes!(forms, "f32" "32" SINGLE F32 75);
    extremes!(forms, "f16" "16" HALF F16 80);
    extremes!(forms, "bf16" "16" HALF BF16 80);
    forms.extend([
        number(SINGLE, 75, "set.lt.f16.f32 %x16, %a32, %b32;", |[a, b, ..]| one_if(0x3C00, F32, a, b)),
        number(DOUBLE, 75, "set.lt.f16.f64 %x16, %a64, %b64;", |[a, b, ..]| one_if(0x3C00, F64, a, b)),
        number(SINGLE, 90, "set.lt.bf16.f32 %x16, %a32, %b32;", |[a, b, ..]| one_if(0x3F80, F32, a, b)),
        number(HALF, 90, "set.lt.bf16.f16 %x16, %a16, %b16;", |[a, b, ..]| one_if(0x3F80, F16, a, b)),
    ]);
    signs!(forms, "f32" "32" SINGLE F32 75, "f16" "16" HALF F16 75, "bf16" "16" HALF BF16 80);
    forms
}
