//! `f16`, `bf16`, pairs of them, and `f32` made of them.

use super::arithmetic::FUSED;
use super::reference::{BF16, Exact, F16, F32, MODES, Mode, Shape, operands, product, sum};
use super::{check, pair};

type Compute = fn([f64; 3], Mode) -> Exact;

const FORMS: [(&str, &str, Compute); 4] = [
    ("add", "%a, %b", |[a, b, _], mode| sum(a, b, mode)),
    ("sub", "%a, %b", |[a, b, _], mode| sum(a, -b, mode)),
    ("mul", "%a, %b", |[a, b, _], _| product(a, b)),
    ("fma.rn", "%a, %b, %c", FUSED),
];

const HALVES: [(&str, Shape); 2] = [("f16", F16), ("bf16", BF16)];

fn nearest(shape: Shape, compute: Compute, ftz: bool, operands: [u64; 3]) -> u64 {
    let seen = |bits| if ftz { shape.flushed(bits) } else { bits };
    shape.rounded(compute(operands.map(|bits| shape.value(seen(bits))), Mode::Nearest), Mode::Nearest, ftz)
}

fn widths(from: &str, width: u32) -> String {
    ["a", "b", "c"].iter().fold(from.to_owned(), |text, it| text.replace(&format!("%{it}"), &format!("%{it}{width}")))
}

/// Each operand of a case with that of the next in the upper half.
fn pairs(shape: Shape) -> Vec<[u64; 3]> {
    operands(shape).windows(2).map(|two| [0, 1, 2].map(|place| pair(16, two[0][place], two[1][place]))).collect()
}

fn of_each(word: [u64; 3], number: impl Fn([u64; 3]) -> u64) -> u64 {
    pair(16, number(word.map(|word| word & 0xFFFF)), number(word.map(|word| word >> 16)))
}

#[test]
fn the_nearest_half() {
    for (ty, shape) in HALVES {
        let all = operands(shape);
        for (name, from, compute) in FORMS {
            let from = widths(from, 16);
            check(&format!("{name}.{ty} %d16, {from};"), &all, |it| nearest(shape, compute, false, it));
        }
    }
}

#[test]
fn the_nearest_pair() {
    for (ty, shape) in HALVES {
        let all = pairs(shape);
        for (name, from, compute) in FORMS {
            let from = widths(from, 32);
            let expected = |it| of_each(it, |it| nearest(shape, compute, false, it));
            check(&format!("{name}.{ty}x2 %d32, {from};"), &all, expected);
        }
    }
}

#[test]
fn without_subnormal_numbers() {
    let (single, double) = (operands(F16), pairs(F16));
    for (name, from, compute) in FORMS {
        let (from_one, from_two) = (widths(from, 16), widths(from, 32));
        check(&format!("{name}.ftz.f16 %d16, {from_one};"), &single, |it| nearest(F16, compute, true, it));
        let expected = |it| of_each(it, |it| nearest(F16, compute, true, it));
        check(&format!("{name}.ftz.f16x2 %d32, {from_two};"), &double, expected);
    }
}

fn saturated(shape: Shape, bits: u64) -> u64 {
    match shape.value(bits) {
        value if value >= 1.0 => shape.one(),
        value if value > 0.0 => bits,
        _ => 0,
    }
}

fn rectified(shape: Shape, bits: u64) -> u64 {
    if bits & shape.sign() == 0 { bits } else { 0 }
}

#[test]
fn saturation_and_rectification() {
    for (name, from, compute) in FORMS {
        let from = widths(from, 16);
        let expected = |it| saturated(F16, nearest(F16, compute, false, it));
        check(&format!("{name}.sat.f16 %d16, {from};"), &operands(F16), expected);
    }
    for (ty, shape) in HALVES {
        let expected = |it| rectified(shape, nearest(shape, FUSED, false, it));
        check(&format!("fma.rn.relu.{ty} %d16, %a16, %b16, %c16;"), &operands(shape), expected);
        let expected = |it| of_each(it, |it| rectified(shape, nearest(shape, FUSED, false, it)));
        check(&format!("fma.rn.relu.{ty}x2 %d32, %a32, %b32, %c32;"), &pairs(shape), expected);
    }
}

#[test]
fn signs() {
    for (ty, shape) in HALVES {
        let negated = |it: u64| if shape.is_nan(it) { shape.nan() } else { it ^ shape.sign() };
        let absolute = |it: u64| if shape.is_nan(it) { shape.nan() } else { it & !shape.sign() };
        check(&format!("neg.{ty} %d16, %a16;"), &operands(shape), |[a, ..]| negated(a));
        check(&format!("abs.{ty} %d16, %a16;"), &operands(shape), |[a, ..]| absolute(a));
        check(&format!("neg.{ty}x2 %d32, %a32;"), &pairs(shape), |it| of_each(it, |[a, ..]| negated(a)));
        check(&format!("abs.{ty}x2 %d32, %a32;"), &pairs(shape), |it| of_each(it, |[a, ..]| absolute(a)));
    }
    check("neg.ftz.f16 %d16, %a16;", &operands(F16), |[a, ..]| {
        if F16.is_nan(a) { F16.nan() } else { F16.flushed(a) ^ F16.sign() }
    });
}

#[test]
fn single_numbers_made_of_halves() {
    for (ty, shape) in HALVES {
        let all: Vec<[u64; 3]> =
            operands(shape).iter().zip(operands(F32)).map(|([a, b, _], [.., c])| [*a, *b, c]).collect();
        for (modifier, mode) in MODES {
            let values = |[a, b, c]: [u64; 3]| [shape.value(a), shape.value(b), F32.value(c)];
            let rounded = |exact| F32.rounded(exact, mode, false);
            check(&format!("add.{modifier}.f32.{ty} %d32, %a16, %c32;"), &all, |it| {
                let [a, _, c] = values(it);
                rounded(sum(a, c, mode))
            });
            check(&format!("sub.{modifier}.f32.{ty} %d32, %a16, %c32;"), &all, |it| {
                let [a, _, c] = values(it);
                rounded(sum(a, -c, mode))
            });
            check(&format!("fma.{modifier}.f32.{ty} %d32, %a16, %b16, %c32;"), &all, |it| {
                rounded(FUSED(values(it), mode))
            });
        }
    }
}
