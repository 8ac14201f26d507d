//! Numbers of 16 bits.

use super::{Argument, Program, bytes_of, number, text, words};

/// The value of a normal number.
fn value(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15);
    if bits >> 15 == 1 { -size } else { size }
}

/// The number nearest to a value below 65,504; of two, the even one.
fn nearest(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let size = value.abs();
    // All that are subnormal have the exponent of the smallest that is not; zero has it too.
    let exponent = (-14..16).rev().find(|exponent| 2_f64.powi(*exponent) <= size).unwrap_or(-14);
    let steps = (size / 2_f64.powi(exponent - 10)).round_ties_even() as u16;
    // A sum that carries into the next exponent is right as it is.
    sign | (((exponent + 14) as u16) * 1024 + steps)
}

/// Sums are exact in 64 bits: exponents lie close together.
pub(super) fn axpy_half() -> Program {
    let halves = |seed| {
        let bits = |word: u32| (word & 0x83FF) as u16 | (13 + (word >> 20 & 3) as u16) << 10;
        words(seed, 300).into_iter().map(bits).collect::<Vec<_>>()
    };
    let (x, y) = (halves(20), halves(21));
    let factor = value(nearest(0.7));
    let sums = x.iter().zip(&y).map(|(x, y)| nearest(factor.mul_add(value(*x), value(*y))));
    Program {
        name: "axpy_half",
        grid: "2",
        block: "128",
        results: [(2, bytes_of!(sums))].into(),
        arguments: vec![
            text("f32:0.7"),
            Argument::Bytes(bytes_of!(x.clone())),
            Argument::Bytes(bytes_of!(y.clone())),
            number(300),
            number(100),
        ],
        ..Program::default()
    }
}
