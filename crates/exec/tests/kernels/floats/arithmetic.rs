//! Sums, products, quotients and roots of `f32`.

use super::reference::{Exact, F32, MODES, Mode, operands, product, quotient, root, sum};
use super::{check, pair};

/// What is computed of three numbers.
type Compute = fn([f64; 3], Mode) -> Exact;

pub(super) const FUSED: Compute = |[a, b, c], mode| sum(a * b, c, mode);

const FORMS: [(&str, &str, Compute); 7] = [
    ("add", "%a32, %b32", |[a, b, _], mode| sum(a, b, mode)),
    ("sub", "%a32, %b32", |[a, b, _], mode| sum(a, -b, mode)),
    ("mul", "%a32, %b32", |[a, b, _], _| product(a, b)),
    ("fma", "%a32, %b32, %c32", FUSED),
    ("div", "%a32, %b32", |[a, b, _], _| quotient(a, b)),
    ("rcp", "%a32", |[a, ..], _| quotient(1.0, a)),
    ("sqrt", "%a32", |[a, ..], _| root(a)),
];

fn saturated(bits: u64) -> u64 {
    let value = f32::from_bits(bits as u32);
    u64::from((if value > 0.0 { value.min(1.0) } else { 0.0 }).to_bits())
}

#[test]
fn every_rounding_with_and_without_subnormal_numbers() {
    let all = operands(F32);
    for (name, from, compute) in FORMS {
        for (modifier, mode) in MODES {
            for ftz in [false, true] {
                let flag = if ftz { ".ftz" } else { "" };
                let seen = |bits| if ftz { F32.flushed(bits) } else { bits };
                let expected = |operands: [u64; 3]| {
                    F32.rounded(compute(operands.map(|bits| F32.value(seen(bits))), mode), mode, ftz)
                };
                check(&format!("{name}.{modifier}{flag}.f32 %d32, {from};"), &all, expected);
            }
        }
    }
}

#[test]
fn the_nearest_is_that_of_the_host() {
    let single = |bits: u64| f32::from_bits(bits as u32);
    let bits = |value: f32| if value.is_nan() { F32.nan() } else { u64::from(value.to_bits()) };
    let all = operands(F32);
    check("add.f32 %d32, %a32, %b32;", &all, |[a, b, _]| bits(single(a) + single(b)));
    check("sub.f32 %d32, %a32, %b32;", &all, |[a, b, _]| bits(single(a) - single(b)));
    check("mul.f32 %d32, %a32, %b32;", &all, |[a, b, _]| bits(single(a) * single(b)));
    check("div.rn.f32 %d32, %a32, %b32;", &all, |[a, b, _]| bits(single(a) / single(b)));
    check("sqrt.rn.f32 %d32, %a32;", &all, |[a, ..]| bits(single(a).sqrt()));
    check("mad.rn.f32 %d32, %a32, %b32, %c32;", &all, |[a, b, c]| bits(single(a).mul_add(single(b), single(c))));
}

#[test]
fn saturation() {
    let all = operands(F32);
    for (name, from, compute) in &FORMS[..4] {
        for (modifier, mode) in MODES {
            let expected = |operands: [u64; 3]| {
                saturated(F32.rounded(compute(operands.map(|it| F32.value(it)), mode), mode, false))
            };
            check(&format!("{name}.{modifier}.sat.f32 %d32, {from};"), &all, expected);
        }
    }
}

#[test]
fn pairs() {
    let pairs: Vec<[u64; 3]> =
        operands(F32).windows(2).map(|two| [0, 1, 2].map(|place| pair(32, two[0][place], two[1][place]))).collect();
    for (name, _, compute) in &FORMS[..4] {
        let from = if *name == "fma" { "%a64, %b64, %c64" } else { "%a64, %b64" };
        for (modifier, mode) in MODES {
            let number = |operands: [u64; 3]| F32.rounded(compute(operands.map(|it| F32.value(it)), mode), mode, false);
            let expected = |operands: [u64; 3]| {
                pair(32, number(operands.map(|word| word & 0xFFFF_FFFF)), number(operands.map(|word| word >> 32)))
            };
            check(&format!("{name}.{modifier}.f32x2 %d64, {from};"), &pairs, expected);
        }
    }
}

#[test]
fn signs() {
    let all = operands(F32);
    let canonical = |bits: u64| if F32.is_nan(bits) { F32.nan() } else { bits };
    check("neg.f32 %d32, %a32;", &all, |[a, ..]| if F32.is_nan(a) { F32.nan() } else { a ^ F32.sign() });
    check("neg.ftz.f32 %d32, %a32;", &all, |[a, ..]| {
        canonical(F32.flushed(a)) ^ if F32.is_nan(a) { 0 } else { F32.sign() }
    });
    check("abs.f32 %d32, %a32;", &all, |[a, ..]| canonical(a & !F32.sign()));
    check("abs.ftz.f32 %d32, %a32;", &all, |[a, ..]| canonical(F32.flushed(a) & !F32.sign()));
    check("copysign.f32 %d32, %a32, %b32;", &all, |[a, b, _]| a & F32.sign() | b & !F32.sign() & 0xFFFF_FFFF);
}
