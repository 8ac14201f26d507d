//! Arithmetic and conversions of floating-point numbers, as far as every bit of the result is known.

use super::one;
use crate::form::{Form, Operands};
use crate::reference::{BF16, Exact, F16, F32, F64, Mode, Shape, product, quotient, root, sum};

/// `f32` at which instructions change what they do: zeros, subnormal numbers, the ends, and not a number.
pub(super) const SINGLE: &[u64] = &[
    0,
    0x8000_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    1,
    0x0080_0000,
    0x807F_FFFF,
    0x7F7F_FFFF,
    0x3F80_0001,
    0xFFC1_2345,
    0x7F80_0001,
    0x4B00_0001,
    0x3F00_0000,
    0xBFC0_0000,
    0x0080_0001,
    0x3F7F_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0x5F00_0000,
];

/// The same of `f64`.
pub(super) const DOUBLE: &[u64] = &[
    0,
    0x8000_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0000,
    0x7FF0_0000_0000_0000,
    0x7FF8_0000_0000_0123,
    0xFFF0_0000_0000_0000,
    0xFFFC_0000_0000_0456,
    1,
    0x0010_0000_0000_0000,
    0x800F_FFFF_FFFF_FFFF,
    0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0001,
    0x3FF0_0000_0000_0001,
    0x380F_FFFF_F000_0000,
    0x380F_FFFF_EFFF_FFFF,
    0x3810_0000_0000_0000,
    0x3FE0_0000_0000_0000,
    0xBFF8_0000_0000_0000,
    0x41E0_0000_0000_0000,
    0x43E0_0000_0000_0000,
];

/// The same of `f16`, and of `bf16`, among which they are ordinary numbers.
pub(super) const HALF: &[u64] = &[
    0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 1, 0x0400, 0x83FF, 0x7BFF, 0x3C01, 0x7C01, 0x3F80, 0xFF80,
    0x7F80, 0x7FC1, 0x0080, 0x7F7F, 0x3800, 0xBE00, 0x6401,
];

/// What is computed of three numbers.
type Compute = fn([f64; 3], Mode) -> Exact;

pub(super) fn number(edges: &'static [u64], sm: u32, text: &'static str, reference: fn(Operands) -> u64) -> Form {
    Form { edges, sm, ..one(text, reference) }
}

fn computed(shape: Shape, compute: Compute, mode: Mode, ftz: bool, [a, b, c, _]: Operands) -> u64 {
    let operand = |word: u64| {
        let bits = word << (64 - shape.bits) >> (64 - shape.bits);
        shape.value(if ftz { shape.flushed(bits) } else { bits })
    };
    shape.rounded(compute([a, b, c].map(operand), mode), mode, ftz)
}

macro_rules! single {
    ($forms:ident, $name:literal, $from:literal, $compute:expr) => {
        single!($forms, $name, $from, $compute, "rn" Mode::Nearest, "rz" Mode::Zero, "rm" Mode::Down, "rp" Mode::Up);
    };
    ($forms:ident, $name:literal, $from:literal, $compute:expr, $($modifier:literal $mode:expr),*) => { $(
        $forms.push(number(SINGLE, 75, concat!($name, ".", $modifier, ".f32 %x32, ", $from, ";"), |row| {
            computed(F32, $compute, $mode, false, row)
        }));
        $forms.push(number(SINGLE, 75, concat!($name, ".", $modifier, ".ftz.f32 %x32, ", $from, ";"), |row| {
            computed(F32, $compute, $mode, true, row)
        }));
    )* };
}

macro_rules! halves {
    ($forms:ident, $name:literal, $from:literal, $compute:expr) => {
        $forms.push(number(HALF, 75, concat!($name, ".f16 %x16, ", $from, ";"), |row| {
            computed(F16, $compute, Mode::Nearest, false, row)
        }));
        $forms.push(number(HALF, 75, concat!($name, ".ftz.f16 %x16, ", $from, ";"), |row| {
            computed(F16, $compute, Mode::Nearest, true, row)
        }));
        $forms.push(number(HALF, 90, concat!($name, ".bf16 %x16, ", $from, ";"), |row| {
            computed(BF16, $compute, Mode::Nearest, false, row)
        }));
    };
}

/// A result of `f64`. NaN is that of the first of these operands that is one, made quiet.
fn double(value: f64, operands: &[u64]) -> u64 {
    match value.is_nan() {
        true => operands.iter().find(|bits| F64.is_nan(**bits)).map_or(F64.nan(), |nan| nan | 1 << 51),
        false => value.to_bits(),
    }
}

/// An `f64` in a narrower format.
fn shortened(to: Shape, bits: u64, ftz: bool) -> u64 {
    match F64.is_nan(bits) {
        true => to.shortened_nan(bits),
        false => to.rounded((f64::from_bits(bits), 0.0), Mode::Nearest, ftz),
    }
}

/// A `bf16` as `f64`: NaN keeps its sign and its bits, and is quiet.
fn widened(bits: u64) -> u64 {
    match BF16.is_nan(bits) {
        true => bits >> 15 << 63 | 0x7FF8 << 48 | (bits & 0x7F) << 45,
        false => BF16.value(bits).to_bits(),
    }
}

macro_rules! to_integers {
    ($forms:ident, $of:literal $from:literal $edges:ident $shape:ident, $($ty:literal $integer:ident $bits:literal),*) => {
        $(
            to_integers!($forms, $of $from $edges $shape, $ty $integer $bits, "rni" round_ties_even);
            to_integers!($forms, $of $from $edges $shape, $ty $integer $bits, "rzi" trunc);
            to_integers!($forms, $of $from $edges $shape, $ty $integer $bits, "rmi" floor);
            to_integers!($forms, $of $from $edges $shape, $ty $integer $bits, "rpi" ceil);
        )*
    };
    ($forms:ident, $of:literal $from:literal $edges:ident $shape:ident, $ty:literal $integer:ident $bits:literal,
        $modifier:literal $whole:ident) => {
        let text = concat!("cvt.", $modifier, ".", $ty, ".", $of, " %x", $bits, ", ", $from, ";");
        $forms.push(number($edges, 75, text, |[a, ..]| {
            let bits = a << (64 - $shape.bits) >> (64 - $shape.bits);
            let highest = 1_u64 << ($bits - 1);
            let integer = match $shape.is_nan(bits) {
                true if $shape == F64 || $bits == 64 => highest,
                _ => $shape.value(bits).$whole() as $integer as u64,
            };
            integer << (64 - $bits) >> (64 - $bits)
        }));
    };
}

macro_rules! from_integers {
    ($forms:ident, $($ty:literal $integer:ident $register:literal),*) => { $(
        from_integers!($forms, $ty $integer $register, "rn" Mode::Nearest, "rz" Mode::Zero, "rm" Mode::Down, "rp" Mode::Up);
    )* };
    ($forms:ident, $ty:literal $integer:ident $register:literal, $($modifier:literal $mode:expr),*) => { $(
        $forms.push(one(concat!("cvt.", $modifier, ".f32.", $ty, " %x32, %a", $register, ";"), |[a, ..]| {
            let integer = i128::from(a as $integer);
            let high = integer as f64;
            F32.rounded((high, (integer - high as i128) as f64), $mode, false)
        }));
    )* };
}

macro_rules! narrowed {
    ($forms:ident, $sm:literal, $ty:literal $shape:ident, $($modifier:literal $mode:expr),*) => { $(
        $forms.push(number(SINGLE, $sm, concat!("cvt.", $modifier, ".", $ty, ".f32 %x16, %a32;"), |[a, ..]| {
            $shape.rounded((F32.value(a & 0xFFFF_FFFF), 0.0), $mode, false)
        }));
    )* };
}

macro_rules! halved {
    ($forms:ident, $ty:literal $shape:ident $of:literal $from:ident, $($modifier:literal $mode:expr),*) => { $(
        $forms.push(number(HALF, 90, concat!("cvt", $modifier, ".", $ty, ".", $of, " %x16, %a16;"), |[a, ..]| {
            $shape.rounded(($from.value(a & 0xFFFF), 0.0), $mode, false)
        }));
    )* };
}

/// The forms of this file.
pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    single!(forms, "add", "%a32, %b32", |[a, b, _], mode| sum(a, b, mode));
    single!(forms, "sub", "%a32, %b32", |[a, b, _], mode| sum(a, -b, mode));
    single!(forms, "mul", "%a32, %b32", |[a, b, _], _| product(a, b));
    single!(forms, "fma", "%a32, %b32, %c32", |[a, b, c], mode| sum(a * b, c, mode));
    single!(forms, "div", "%a32, %b32", |[a, b, _], _| quotient(a, b));
    single!(forms, "rcp", "%a32", |[a, ..], _| quotient(1.0, a));
    single!(forms, "sqrt", "%a32", |[a, ..], _| root(a));
    halves!(forms, "add", "%a16, %b16", |[a, b, _], mode| sum(a, b, mode));
    halves!(forms, "sub", "%a16, %b16", |[a, b, _], mode| sum(a, -b, mode));
    halves!(forms, "mul", "%a16, %b16", |[a, b, _], _| product(a, b));
    halves!(forms, "fma.rn", "%a16, %b16, %c16", |[a, b, c], mode| sum(a * b, c, mode));
    forms.extend([
        number(DOUBLE, 75, "add.rn.f64 %x64, %a64, %b64;", |[a, b, ..]| {
            double(f64::from_bits(a) + f64::from_bits(b), &[b, a])
        }),
        number(DOUBLE, 75, "sub.rn.f64 %x64, %a64, %b64;", |[a, b, ..]| {
            double(f64::from_bits(a) - f64::from_bits(b), &[b, a])
        }),
        number(DOUBLE, 75, "mul.rn.f64 %x64, %a64, %b64;", |[a, b, ..]| {
            double(f64::from_bits(a) * f64::from_bits(b), &[b, a])
        }),
        number(DOUBLE, 75, "div.rn.f64 %x64, %a64, %b64;", |[a, b, ..]| {
            double(f64::from_bits(a) / f64::from_bits(b), &[a, b])
        }),
        number(DOUBLE, 75, "sqrt.rn.f64 %x64, %a64;", |[a, ..]| double(f64::from_bits(a).sqrt(), &[a])),
        number(DOUBLE, 75, "fma.rn.f64 %x64, %a64, %b64, %c64;", |[a, b, c, _]| {
            double(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)), &[b, c, a])
        }),
        number(DOUBLE, 75, "cvt.rn.f32.f64 %x32, %a64;", |[a, ..]| shortened(F32, a, false)),
        number(DOUBLE, 75, "cvt.rn.ftz.f32.f64 %x32, %a64;", |[a, ..]| shortened(F32, a, true)),
        number(DOUBLE, 75, "cvt.rn.f16.f64 %x16, %a64;", |[a, ..]| shortened(F16, a, false)),
        number(DOUBLE, 90, "cvt.rn.bf16.f64 %x16, %a64;", |[a, ..]| shortened(BF16, a, false)),
    ]);
    narrowed!(forms, 75, "f16" F16, "rn" Mode::Nearest, "rz" Mode::Zero, "rm" Mode::Down, "rp" Mode::Up);
    narrowed!(forms, 90, "bf16" BF16, "rn" Mode::Nearest, "rz" Mode::Zero);
    halved!(forms, "f16" F16 "bf16" BF16, "" Mode::Nearest, ".rn" Mode::Nearest, ".rz" Mode::Zero);
    halved!(forms, "bf16" BF16 "f16" F16, "" Mode::Nearest, ".rn" Mode::Nearest, ".rz" Mode::Zero);
    forms.extend([
        number(HALF, 80, "cvt.rz.f32.bf16 %x32, %a16;", |[a, ..]| (a & 0xFFFF) << 16),
        number(HALF, 90, "cvt.rm.f64.bf16 %x64, %a16;", |[a, ..]| widened(a & 0xFFFF)),
    ]);
    to_integers!(forms, "f32" "%a32" SINGLE F32, "u16" u16 16, "s16" i16 16, "u32" u32 32, "s32" i32 32, "u64" u64 64, "s64" i64 64);
    to_integers!(forms, "f64" "%a64" DOUBLE F64, "u16" u16 16, "s16" i16 16, "u32" u32 32, "s32" i32 32, "u64" u64 64, "s64" i64 64);
    to_integers!(forms, "f16" "%a16" HALF F16, "u16" u16 16, "s16" i16 16, "u32" u32 32, "s32" i32 32, "u64" u64 64, "s64" i64 64);
    from_integers!(forms, "u8" u8 "16", "s8" i8 "16", "u16" u16 "16", "s16" i16 "16", "u32" u32 "32", "s32" i32 "32", "u64" u64 "64", "s64" i64 "64");
    forms
}
