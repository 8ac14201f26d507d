//! `f64`, which keeps NaN.

use super::reference::{F64, MODES, Mode, operands};
use super::{check, words};

/// A result. NaN is that of the first of these operands that is one, made quiet.
fn bits(value: f64, operands: &[u64]) -> u64 {
    match value.is_nan() {
        true => operands.iter().find(|it| F64.is_nan(**it)).map_or(F64.nan(), |nan| nan | 1 << 51),
        false => value.to_bits(),
    }
}

const V: fn(u64) -> f64 = f64::from_bits;

#[test]
fn the_nearest_is_that_of_the_host() {
    let all = operands(F64);
    check("add.f64 %d64, %a64, %b64;", &all, |[a, b, _]| bits(V(a) + V(b), &[b, a]));
    check("sub.f64 %d64, %a64, %b64;", &all, |[a, b, _]| bits(V(a) - V(b), &[b, a]));
    check("mul.f64 %d64, %a64, %b64;", &all, |[a, b, _]| bits(V(a) * V(b), &[b, a]));
    check("div.rn.f64 %d64, %a64, %b64;", &all, |[a, b, _]| bits(V(a) / V(b), &[a, b]));
    check("rcp.rn.f64 %d64, %a64;", &all, |[a, ..]| bits(1.0 / V(a), &[a]));
    check("sqrt.rn.f64 %d64, %a64;", &all, |[a, ..]| bits(V(a).sqrt(), &[a]));
    check("fma.rn.f64 %d64, %a64, %b64, %c64;", &all, |[a, b, c]| bits(V(a).mul_add(V(b), V(c)), &[b, c, a]));
    check("mad.rn.f64 %d64, %a64, %b64, %c64;", &all, |[a, b, c]| bits(V(a).mul_add(V(b), V(c)), &[b, c, a]));
}

/// The neighbour of the nearest number that a rounding asks for; `error` is what the nearest one lacks.
pub(super) fn directed(nearest: f64, error: f64, mode: Mode) -> u64 {
    let mode = match mode {
        Mode::Zero if nearest > 0.0 => Mode::Down,
        Mode::Zero => Mode::Up,
        other => other,
    };
    match mode {
        Mode::Down if error < 0.0 => nearest.next_down().to_bits(),
        Mode::Up if error > 0.0 => nearest.next_up().to_bits(),
        _ => nearest.to_bits(),
    }
}

/// Numbers whose products and quotients are no smaller and no larger than normal ones.
fn moderate() -> Vec<[u64; 3]> {
    let number = |word: u64| word & 0x800F_FFFF_FFFF_FFFF | (1023 - 40 + (word >> 52) % 80) << 52;
    let words: Vec<u64> = words(64).take(6000).collect();
    words.as_chunks::<3>().0.iter().map(|three| three.map(number)).collect()
}

#[test]
fn directed_roundings() {
    for (modifier, mode) in &MODES[1..] {
        let all = moderate();
        let sum = |a: f64, b: f64| {
            let nearest = a + b;
            let second = nearest - a;
            directed(nearest, (a - (nearest - second)) + (b - second), *mode)
        };
        check(&format!("add.{modifier}.f64 %d64, %a64, %b64;"), &all, |[a, b, _]| sum(V(a), V(b)));
        check(&format!("sub.{modifier}.f64 %d64, %a64, %b64;"), &all, |[a, b, _]| sum(V(a), -V(b)));
        check(&format!("mul.{modifier}.f64 %d64, %a64, %b64;"), &all, |[a, b, _]| {
            let nearest = V(a) * V(b);
            directed(nearest, V(a).mul_add(V(b), -nearest), *mode)
        });
        let quotient = |a: f64, b: f64| {
            let nearest = a / b;
            directed(nearest, (-nearest).mul_add(b, a) * b.signum(), *mode)
        };
        check(&format!("div.{modifier}.f64 %d64, %a64, %b64;"), &all, |[a, b, _]| quotient(V(a), V(b)));
        check(&format!("rcp.{modifier}.f64 %d64, %a64;"), &all, |[a, ..]| quotient(1.0, V(a)));
        let positive: Vec<[u64; 3]> = all.iter().map(|[a, b, c]| [a & !F64.sign(), *b, *c]).collect();
        check(&format!("sqrt.{modifier}.f64 %d64, %a64;"), &positive, |[a, ..]| {
            let nearest = V(a).sqrt();
            directed(nearest, -nearest.mul_add(nearest, -V(a)), *mode)
        });
    }
}

/// A whole number, rounded to 53 bits.
fn rounded(exact: i128, mode: Mode) -> u64 {
    let excess = (128 - exact.unsigned_abs().leading_zeros()).saturating_sub(53);
    let (floor, rest) = (exact >> excess, exact & ((1 << excess) - 1));
    let up = match mode {
        Mode::Down => false,
        Mode::Up => rest != 0,
        _ => rest != 0 && exact < 0,
    };
    ((floor + i128::from(up)) as f64 * 2_f64.powi(excess as i32)).to_bits()
}

#[test]
fn directed_roundings_of_fused_products() {
    let integer = |word: u64, bits: u32| i128::from(word.cast_signed() >> (64 - bits));
    let words: Vec<u64> = words(128).take(6000).collect();
    let integers: Vec<[i128; 3]> = words
        .as_chunks::<3>()
        .0
        .iter()
        .map(|[a, b, c]| [integer(*a, 53), integer(*b, 53), integer(*c, 53) << (c % 50)])
        .collect();
    let all: Vec<[u64; 3]> = integers.iter().map(|three| three.map(|it| (it as f64).to_bits())).collect();
    for (modifier, mode) in &MODES[1..] {
        check(&format!("fma.{modifier}.f64 %d64, %a64, %b64, %c64;"), &all, |operands| {
            let [a, b, c] = operands.map(|bits| V(bits) as i128);
            rounded(a * b + c, *mode)
        });
    }
}

/// Where the results end: the largest and the smallest numbers, and zeros.
#[test]
fn directed_roundings_at_the_ends() {
    let tiny = 1_u64;
    let largest = F64.infinity() - 1;
    let sign = F64.sign();
    let cases = [
        ("mul.rz.f64 %d64, %a64, %b64;", [tiny, tiny, 0], 0),
        ("mul.rp.f64 %d64, %a64, %b64;", [tiny, tiny, 0], tiny),
        ("mul.rm.f64 %d64, %a64, %b64;", [tiny | sign, tiny, 0], tiny | sign),
        ("mul.rp.f64 %d64, %a64, %b64;", [tiny | sign, tiny, 0], sign),
        ("add.rz.f64 %d64, %a64, %b64;", [largest, largest, 0], largest),
        ("add.rm.f64 %d64, %a64, %b64;", [largest, largest, 0], largest),
        ("add.rp.f64 %d64, %a64, %b64;", [largest, largest, 0], F64.infinity()),
        ("add.rm.f64 %d64, %a64, %b64;", [F64.one(), F64.one() | sign, 0], sign),
        ("add.rp.f64 %d64, %a64, %b64;", [F64.one(), F64.one() | sign, 0], 0),
        ("sqrt.rm.f64 %d64, %a64;", [2, 0, 0], 0x1E66_A09E_667F_3BCC),
        ("sqrt.rp.f64 %d64, %a64;", [2, 0, 0], 0x1E66_A09E_667F_3BCD),
        ("sqrt.rp.f64 %d64, %a64;", [sign, 0, 0], sign),
    ];
    for (instruction, operands, expected) in cases {
        check(instruction, &[operands], |_| expected);
    }
}

#[test]
fn nan_keeps_its_sign_and_is_made_quiet() {
    let all = operands(F64);
    let signed = |a: u64, otherwise: u64| if F64.is_nan(a) { a | 1 << 51 } else { otherwise };
    check("neg.f64 %d64, %a64;", &all, |[a, ..]| signed(a, a ^ F64.sign()));
    check("abs.f64 %d64, %a64;", &all, |[a, ..]| signed(a, a & !F64.sign()));
    check("copysign.f64 %d64, %a64, %b64;", &all, |[a, b, _]| a & F64.sign() | b & !F64.sign());
}
