//! `cvt` and `cvt.pack`.

use super::double::directed;
use super::reference::{BF16, F16, F32, F64, MODES, Mode, Shape, operands};
use super::{check, pair, words};

const FORMATS: [(&str, Shape); 4] = [("f16", F16), ("bf16", BF16), ("f32", F32), ("f64", F64)];

/// A number as bits of `f64` that a NaN keeps: those behind the exponent are moved up, and it is made quiet.
fn double(from: Shape, bits: u64) -> u64 {
    let sign = (bits & from.sign()) << (64 - from.bits);
    let payload = (bits & ((1 << from.fraction) - 1)) << (52 - from.fraction);
    if from.is_nan(bits) { sign | F64.infinity() | 1 << 51 | payload } else { from.value(bits).to_bits() }
}

#[test]
fn to_wider_formats() {
    check("cvt.f32.f16 %d32, %a16;", &operands(F16), |[a, ..]| F32.rounded((F16.value(a), 0.0), Mode::Zero, false));
    check("cvt.f32.bf16 %d32, %a16;", &operands(BF16), |[a, ..]| a << 16);
    for (ty, from) in &FORMATS[..3] {
        let width = from.bits;
        check(&format!("cvt.f64.{ty} %d64, %a{width};"), &operands(*from), |[a, ..]| double(*from, a));
    }
    check("cvt.ftz.f64.f32 %d64, %a32;", &operands(F32), |[a, ..]| {
        double(F32, if F32.is_nan(a) { F32.nan() } else { F32.flushed(a) })
    });
}

#[test]
fn to_narrower_formats() {
    let pairs = [(F64, F32), (F64, F16), (F64, BF16), (F32, F16), (F32, BF16), (F16, BF16), (BF16, F16)];
    let name = |shape: Shape| FORMATS.iter().find(|(_, it)| *it == shape).unwrap().0;
    for (from, to) in pairs {
        for (modifier, mode) in MODES {
            let (into, of) = (format!("%d{}", to.bits), format!("%a{}", from.bits));
            let all: Vec<[u64; 3]> = operands(to)
                .iter()
                .flat_map(|[a, b, _]| [double(to, *a), double(to, *a).wrapping_add((b & 0xFF).wrapping_sub(0x40))])
                .map(|wide| {
                    [
                        if from == F64 { wide } else { from.rounded((f64::from_bits(wide), 0.0), Mode::Zero, false) },
                        0,
                        0,
                    ]
                })
                .chain(operands(from))
                .collect();
            check(&format!("cvt.{modifier}.{}.{} {into}, {of};", name(to), name(from)), &all, |[a, ..]| {
                match from == F64 && F64.is_nan(a) {
                    true => to.shortened_nan(a),
                    false => to.rounded((from.value(a), 0.0), mode, false),
                }
            });
        }
    }
}

#[test]
fn without_subnormal_numbers() {
    let near: Vec<[u64; 3]> = (0..200)
        .map(|it| [F32.value(0x80_0000).to_bits() - 0x2000_0000 - 100 * 0x400_0000 + it * 0x400_0000, 0, 0])
        .collect();
    for (modifier, mode) in MODES {
        let all = [operands(F64), near.clone()].concat();
        check(&format!("cvt.{modifier}.ftz.f32.f64 %d32, %a64;"), &all, |[a, ..]| {
            if F64.is_nan(a) { F32.shortened_nan(a) } else { F32.rounded((F64.value(a), 0.0), mode, true) }
        });
        check(&format!("cvt.{modifier}.ftz.f16.f32 %d16, %a32;"), &operands(F32), |[a, ..]| {
            F16.rounded((F32.value(F32.flushed(a)), 0.0), mode, false)
        });
    }
    check(
        "cvt.ftz.f32.f32 %d32, %a32;",
        &operands(F32),
        |[a, ..]| {
            if F32.is_nan(a) { F32.nan() } else { F32.flushed(a) }
        },
    );
    check("cvt.ftz.f32.bf16 %d32, %a16;", &operands(BF16), |[a, ..]| {
        if BF16.is_nan(a) { F32.nan() } else { BF16.flushed(a) << 16 }
    });
    check("cvt.f32.f32 %d32, %a32;", &operands(F32), |[a, ..]| a);
}

fn whole(value: f64, modifier: &str) -> f64 {
    match modifier {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}

const WHOLE: [&str; 4] = ["rni", "rzi", "rmi", "rpi"];

#[test]
fn to_whole_numbers() {
    for modifier in WHOLE {
        for (ty, shape) in &FORMATS[..3] {
            let width = shape.bits;
            check(&format!("cvt.{modifier}.{ty}.{ty} %d{width}, %a{width};"), &operands(*shape), |[a, ..]| {
                shape.rounded((whole(shape.value(a), modifier), 0.0), Mode::Nearest, false)
            });
        }
        check(&format!("cvt.{modifier}.f64.f64 %d64, %a64;"), &operands(F64), |[a, ..]| {
            if F64.is_nan(a) { a | 1 << 51 } else { whole(F64.value(a), modifier).to_bits() }
        });
    }
}

/// Integer types: name, width, whether it has a sign.
const INTEGERS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

fn range(width: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

/// The low bits of an integer.
fn low(integer: i128, width: u32) -> u64 {
    integer as u64 & (u64::MAX >> (64 - width))
}

#[test]
fn to_integers() {
    for (of, from) in FORMATS {
        for (ty, width, signed) in INTEGERS.into_iter().filter(|(_, width, _)| from != BF16 || *width > 8) {
            let ends = (0..40).map(|it| {
                let end = 2_f64.powi(width as i32 - i32::from(signed)) + f64::from(it - 20) / 4.0;
                [from.rounded((if it % 2 == 0 { end } else { -end }, 0.0), Mode::Nearest, false), 0, 0]
            });
            let all: Vec<[u64; 3]> = operands(from).into_iter().chain(ends).collect();
            for modifier in WHOLE {
                let (least, most) = range(width, signed);
                let register = width.max(16);
                let expected = |[a, ..]: [u64; 3]| match from.is_nan(a) {
                    true if from == F64 || width == 64 => {
                        let highest = 1_i128 << (width - 1);
                        low(if signed { -highest } else { highest }, register)
                    }
                    true => 0,
                    // What lies outside the range of 128 bits is cut off by the cast already.
                    false => low((whole(from.value(a), modifier) as i128).clamp(least, most), register),
                };
                check(&format!("cvt.{modifier}.{ty}.{of} %d{register}, %a{};", from.bits), &all, expected);
            }
        }
    }
    check("cvt.rpi.ftz.s32.f32 %d32, %a32;", &operands(F32), |[a, ..]| {
        let value = if F32.is_nan(a) { 0.0 } else { F32.value(F32.flushed(a)).ceil() };
        low((value as i128).clamp(i32::MIN.into(), i32::MAX.into()), 32)
    });
}

fn integers() -> Vec<[u64; 3]> {
    let edges =
        [0, 1, 2, 127, 128, 255, 256, 2047, 2049, 32_767, 32_768, 65_519, 65_520, 65_535, 0x00FF_FFFF, 0x0100_0001];
    let wide = [
        i32::MAX as u64,
        i32::MIN as u64,
        u64::from(u32::MAX),
        1 << 53 | 1,
        i64::MAX as u64,
        1 << 63,
        u64::MAX - 1023,
        u64::MAX,
    ];
    let short = words(5).take(2000).enumerate().map(|(place, word)| word >> (place % 64));
    let all = edges.into_iter().chain(wide).chain(short).flat_map(|it| [it, it.wrapping_neg()]);
    all.map(|it| [it, 0, 0]).collect()
}

/// The low bits of a word as a number.
fn integer(word: u64, width: u32, signed: bool) -> i128 {
    let unused = 64 - width;
    if signed { i128::from((word << unused).cast_signed() >> unused) } else { i128::from(word << unused >> unused) }
}

#[test]
fn from_integers() {
    for (ty, width, signed) in INTEGERS {
        for (into, to) in FORMATS.into_iter().filter(|(_, to)| *to != BF16 || width > 8) {
            for (modifier, mode) in MODES {
                let expected = |[a, ..]: [u64; 3]| {
                    let integer = integer(a, width, signed);
                    let high = integer as f64;
                    let missing = (integer - high as i128) as f64;
                    if to == F64 { directed(high, missing, mode) } else { to.rounded((high, missing), mode, false) }
                };
                let (to, from) = (to.bits, width.max(16));
                check(&format!("cvt.{modifier}.{into}.{ty} %d{to}, %a{from};"), &integers(), expected);
            }
        }
    }
}

#[test]
fn between_integers_with_saturation() {
    for (of, from, from_signed) in INTEGERS {
        for (ty, to, to_signed) in INTEGERS {
            let ((from_least, from_most), (least, most)) = (range(from, from_signed), range(to, to_signed));
            let saturated = if from_least < least || from_most > most { ".sat" } else { "" };
            check(
                &format!("cvt{saturated}.{ty}.{of} %d{}, %a{};", to.max(16), from.max(16)),
                &integers(),
                |[a, ..]| low(integer(a, from, from_signed).clamp(least, most), to.max(16)),
            );
        }
    }
}

#[test]
fn saturation_of_numbers() {
    let saturated = |value: f64| if value > 0.0 { value.min(1.0) } else { 0.0 };
    check("cvt.sat.f32.f32 %d32, %a32;", &operands(F32), |[a, ..]| {
        F32.rounded((saturated(F32.value(a)), 0.0), Mode::Nearest, false)
    });
    check("cvt.rn.sat.f16.f32 %d16, %a32;", &operands(F32), |[a, ..]| {
        F16.rounded((saturated(F32.value(a)), 0.0), Mode::Nearest, false)
    });
    check("cvt.sat.f64.f64 %d64, %a64;", &operands(F64), |[a, ..]| saturated(F64.value(a)).to_bits());
    check(
        "cvt.rn.sat.f32.s32 %d32, %a32;",
        &integers(),
        |[a, ..]| {
            if integer(a, 32, true) > 0 { F32.one() } else { 0 }
        },
    );
}

/// What `.relu` and `.satfinite` make of a result.
fn modified(shape: Shape, relu: bool, satfinite: bool, bits: u64) -> u64 {
    let finite = match bits & !shape.sign() == shape.infinity() && satfinite {
        true => bits - 1,
        false => bits,
    };
    if relu && finite & shape.sign() != 0 { 0 } else { finite }
}

const MODIFIED: [(&str, bool, bool); 4] =
    [("", false, false), (".relu", true, false), (".satfinite", false, true), (".relu.satfinite", true, true)];

#[test]
fn rectification_and_finite_results() {
    for (ty, shape) in &FORMATS[..2] {
        for (rounding, mode) in &MODES[..2] {
            for (modifiers, relu, satfinite) in MODIFIED {
                let number = |a| modified(*shape, relu, satfinite, shape.rounded((F32.value(a), 0.0), *mode, false));
                check(&format!("cvt.{rounding}{modifiers}.{ty}.f32 %d16, %a32;"), &operands(F32), |[a, ..]| number(a));
                check(
                    &format!("cvt.{rounding}{modifiers}.{ty}x2.f32 %d32, %a32, %b32;"),
                    &operands(F32),
                    |[a, b, _]| pair(16, number(b), number(a)),
                );
            }
        }
    }
}

#[test]
fn tf32() {
    /// As an `f32` with as many bits as a `tf32` has.
    const SHAPE: Shape = Shape { bits: 19, fraction: 10 };
    for (rounding, mode) in &MODES[..2] {
        for (modifiers, relu, satfinite) in MODIFIED {
            check(&format!("cvt.{rounding}{modifiers}.tf32.f32 %d32, %a32;"), &operands(F32), |[a, ..]| {
                modified(SHAPE, relu, satfinite, SHAPE.rounded((F32.value(a), 0.0), *mode, false)) << 13
            });
        }
    }
    // What NVIDIA's compiler makes of it: half of the last bit is added to the magnitude.
    check("cvt.rna.tf32.f32 %d32, %a32;", &operands(F32), |[a, ..]| {
        let is_finite = F32.value(a).is_finite();
        (if is_finite { a + 0x1000 } else { a }) & 0xFFFF_E000
    });
}

#[test]
fn packs() {
    let all: Vec<[u64; 3]> = integers().windows(3).map(|three| [three[0][0], three[1][0], three[2][0]]).collect();
    for (ty, width, signed) in
        [("u2", 2, false), ("s2", 2, true), ("u4", 4, false), ("s4", 4, true), ("u8", 8, false), ("s8", 8, true)]
    {
        let (least, most) = range(width, signed);
        let part = |word| low(integer(word, 32, true).clamp(least, most), width);
        check(&format!("cvt.pack.sat.{ty}.s32.b32 %d32, %a32, %b32, %c32;"), &all, |[a, b, c]| {
            (c << (2 * width) | part(a) << width | part(b)) & 0xFFFF_FFFF
        });
    }
    for (ty, signed) in [("u16", false), ("s16", true)] {
        let (least, most) = range(16, signed);
        let part = |word| low(integer(word, 32, true).clamp(least, most), 16);
        check(&format!("cvt.pack.sat.{ty}.s32 %d32, %a32, %b32;"), &all, |[a, b, _]| part(a) << 16 | part(b));
    }
}
