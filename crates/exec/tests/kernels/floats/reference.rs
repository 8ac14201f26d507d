//! Operands of instructions on numbers.

pub(super) use peermap_forms::reference::{
    BF16, Exact, F16, F32, F64, MODES, Mode, Shape, product, quotient, root, sum,
};

use super::words;

/// Numbers at which instructions change what they do.
fn edges(shape: Shape) -> Vec<u64> {
    let (one, infinity, normal) = (shape.one(), shape.infinity(), 1 << shape.fraction);
    let quiet = infinity | normal >> 1;
    let positive = [
        0,
        1,
        2,
        3,
        normal >> 1,
        normal - 1,
        normal,
        normal + 1,
        2 * normal,
        one - normal,
        one - 1,
        one,
        one + 1,
        one + normal / 2,
        one + normal,
        one + 3 * normal,
        infinity - 1,
        infinity,
        infinity + 1,
        quiet,
        quiet + 5,
    ];
    positive.iter().flat_map(|bits| [*bits, *bits | shape.sign()]).collect()
}

/// Operands of instructions on numbers of one format: edges with each other, random bits, neighbours, and pairs whose
/// product or quotient is about the smallest normal number.
pub(super) fn operands(shape: Shape) -> Vec<[u64; 3]> {
    let edges = edges(shape);
    let mask = shape.infinity() | (shape.infinity() - 1) | shape.sign();
    let mut operands = Vec::new();
    for (i, a) in edges.iter().enumerate() {
        for (j, b) in edges.iter().enumerate() {
            operands.push([*a, *b, edges[(7 * i + 5 * j) % edges.len()]]);
        }
    }
    let mut words = words(u64::from(shape.bits + shape.fraction));
    let mut word = || words.next().unwrap_or(0);
    let highest = shape.infinity() >> shape.fraction;
    let fraction = (1 << shape.fraction) - 1;
    let number = |word: u64, exponent: u64| word & (fraction | shape.sign()) | exponent.min(highest) << shape.fraction;
    for _ in 0..600 {
        operands.push([word(), word(), word()].map(|word| word & mask));
        let near = word() % highest;
        operands.push([word(), word(), word()].map(|word| number(word, near + (word >> 60 & 3))));
        let middle = shape.one() >> shape.fraction;
        operands.push([word(), word(), word()].map(|word| number(word, middle - 4 + (word >> 50) % 8)));
        let first = 1 + word() % (highest - 1);
        let second = (middle + 1).saturating_sub(first) + word() % 2;
        operands.push([number(word(), first), number(word(), second), number(word(), word() % 3)]);
        operands.push([number(word(), 1 + word() % 2), number(word(), middle), number(word(), word() % 3)]);
    }
    operands
}
