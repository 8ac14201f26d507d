//! `min` and `max`.

use super::reference::{BF16, F16, F32, F64, Shape, operands};
use super::{check, pair};

/// The modifiers of a case.
#[derive(Clone, Copy, Default)]
struct How {
    ftz: bool,
    nan: bool,
    abs: bool,
    xorsign: bool,
}

fn of_two(shape: Shape, largest: bool, nan: bool, a: u64, b: u64) -> u64 {
    let both = if shape == F64 { b | 1 << 51 } else { shape.nan() };
    match (shape.is_nan(a), shape.is_nan(b)) {
        (true, true) => both,
        (true, false) | (false, true) if nan => shape.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let (x, y) = (shape.value(a), shape.value(b));
            let less = x < y || x == y && x.is_sign_negative();
            if less == largest { b } else { a }
        }
    }
}

fn extreme(shape: Shape, largest: bool, how: How, numbers: &[u64]) -> u64 {
    let seen: Vec<u64> = numbers.iter().map(|it| if how.ftz { shape.flushed(*it) } else { *it }).collect();
    let compared = seen.iter().map(|it| if how.abs { it & !shape.sign() } else { *it });
    let found = compared.reduce(|a, b| of_two(shape, largest, how.nan, a, b)).unwrap();
    match how.xorsign && !shape.is_nan(found) {
        true => found | (seen[0] ^ seen[1]) & shape.sign(),
        false => found,
    }
}

const MODIFIERS: [(&str, How); 6] = [
    ("", How { ftz: false, nan: false, abs: false, xorsign: false }),
    (".NaN", How { ftz: false, nan: true, abs: false, xorsign: false }),
    (".xorsign.abs", How { ftz: false, nan: false, abs: true, xorsign: true }),
    (".NaN.xorsign.abs", How { ftz: false, nan: true, abs: true, xorsign: true }),
    (".ftz", How { ftz: true, nan: false, abs: false, xorsign: false }),
    (".ftz.NaN.xorsign.abs", How { ftz: true, nan: true, abs: true, xorsign: true }),
];

const NAMES: [(&str, bool); 2] = [("min", false), ("max", true)];

#[test]
fn of_two_numbers() {
    for (name, largest) in NAMES {
        for (modifiers, how) in MODIFIERS {
            check(&format!("{name}{modifiers}.f32 %d32, %a32, %b32;"), &operands(F32), |[a, b, _]| {
                extreme(F32, largest, how, &[a, b])
            });
            check(&format!("{name}{modifiers}.f16 %d16, %a16, %b16;"), &operands(F16), |[a, b, _]| {
                extreme(F16, largest, how, &[a, b])
            });
        }
        for (modifiers, how) in &MODIFIERS[..4] {
            check(&format!("{name}{modifiers}.bf16 %d16, %a16, %b16;"), &operands(BF16), |[a, b, _]| {
                extreme(BF16, largest, *how, &[a, b])
            });
        }
        check(&format!("{name}.f64 %d64, %a64, %b64;"), &operands(F64), |[a, b, _]| {
            extreme(F64, largest, How::default(), &[a, b])
        });
    }
}

#[test]
fn of_three_numbers() {
    let cases = [
        ("", How::default()),
        (".NaN", How { nan: true, ..How::default() }),
        (".abs", How { abs: true, ..How::default() }),
        (".ftz.NaN.abs", How { ftz: true, nan: true, abs: true, xorsign: false }),
    ];
    for (name, largest) in NAMES {
        for (modifiers, how) in cases {
            check(&format!("{name}{modifiers}.f32 %d32, %a32, %b32, %c32;"), &operands(F32), |it| {
                extreme(F32, largest, how, &it)
            });
        }
    }
}

#[test]
fn of_pairs() {
    for (ty, shape) in [("f16x2", F16), ("bf16x2", BF16)] {
        let pairs: Vec<[u64; 3]> =
            operands(shape).windows(2).map(|two| [0, 1, 2].map(|it| pair(16, two[0][it], two[1][it]))).collect();
        for (name, largest) in NAMES {
            for (modifiers, how) in &MODIFIERS[..4] {
                check(&format!("{name}{modifiers}.{ty} %d32, %a32, %b32;"), &pairs, |[a, b, _]| {
                    let number = |a, b| extreme(shape, largest, *how, &[a, b]);
                    pair(16, number(a & 0xFFFF, b & 0xFFFF), number(a >> 16, b >> 16))
                });
            }
        }
    }
}
