//! What each thread works out for itself, in loops and functions.

use super::{Argument, Program, bytes_of, number, words, zeros};

pub(super) fn collatz() -> Program {
    let path = |first: u64| {
        std::iter::successors(Some(first), |number| match number {
            1 => None,
            odd if odd % 2 == 1 => Some(3 * odd + 1),
            even => Some(even / 2),
        })
    };
    Program {
        name: "collatz",
        grid: "3",
        block: "128",
        results: [
            (2, bytes_of!((27..327).map(|first| path(first).count() as u32 - 1))),
            (3, bytes_of!((27..327).map(|first| path(first).max().expect("the first is there")))),
        ]
        .into(),
        arguments: vec![number(27), number(300), zeros(1200), zeros(2400)],
        ..Program::default()
    }
}

/// `Fraction` of the source.
#[derive(Clone, Copy)]
struct Fraction {
    top: i32,
    bottom: i32,
    weight: i64,
}

impl Fraction {
    fn bytes(self) -> Vec<u8> {
        [&self.top.to_le_bytes()[..], &self.bottom.to_le_bytes(), &self.weight.to_le_bytes()].concat()
    }

    fn plus(self, other: Self) -> Self {
        let (top, bottom) = (self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom);
        let common = divisor(top, bottom);
        Self { top: top / common, bottom: bottom / common, weight: self.weight + other.weight }
    }
}

/// Euclid's, with remainders that have the sign of what is divided.
fn divisor(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { divisor(b, a % b) }
}

pub(super) fn device_calls() -> Program {
    let given: Vec<Fraction> = words(10, 100)
        .into_iter()
        .map(|word| Fraction {
            top: (word % 101) as i32 - 50,
            bottom: (word >> 8) as i32 % 40 + 1,
            weight: i64::from(word.cast_signed()) << 9,
        })
        .collect();
    let result = |index: usize| {
        let sum = given[index].plus(given[(index + 1) % 100]);
        Fraction { weight: sum.weight * if index.is_multiple_of(3) { -1 } else { 5 }, ..sum }.bytes()
    };
    Program {
        name: "device_calls",
        grid: "2",
        block: "64",
        results: [(1, (0..100).flat_map(result).collect())].into(),
        arguments: vec![
            Argument::Bytes(given.iter().flat_map(|fraction| fraction.bytes()).collect()),
            zeros(1600),
            number(100),
        ],
        ..Program::default()
    }
}
