//! Sums of products, each with one rounding, in the order of the source.

use super::{Argument, Program, bytes_of, number, words, zeros};

/// Numbers from -1.5 to -0.5 and from 0.5 to 1.5.
fn floats(seed: u32, count: usize) -> Vec<f32> {
    let float = |word: u32| (f32::from_bits(0x3F80_0000 | word >> 9) - 0.5) * if word & 1 == 0 { 1.0 } else { -1.0 };
    words(seed, count).into_iter().map(float).collect()
}

pub(super) fn matmul_f32() -> Program {
    const SIZE: usize = 48;
    let (a, b) = (floats(16, SIZE * SIZE), floats(17, SIZE * SIZE));
    let element = |place: usize| {
        let (row, column) = (place / SIZE, place % SIZE);
        (0..SIZE).fold(0.0_f32, |sum, k| a[row * SIZE + k].mul_add(b[k * SIZE + column], sum))
    };
    Program {
        name: "matmul_f32",
        grid: "3,3",
        block: "16,16",
        results: [(2, bytes_of!((0..SIZE * SIZE).map(element)))].into(),
        arguments: vec![
            Argument::Bytes(bytes_of!(a.clone())),
            Argument::Bytes(bytes_of!(b.clone())),
            zeros(4 * SIZE * SIZE),
            number(48),
        ],
        ..Program::default()
    }
}

pub(super) fn dot_f64() -> Program {
    const THREADS: usize = 128;
    let fine = |seed| floats(seed, 1000).into_iter().map(|float| f64::from(float) / 3.0).collect::<Vec<_>>();
    let (a, b) = (fine(18), fine(19));
    let thread =
        |first: usize| (first..1000).step_by(2 * THREADS).fold(0.0_f64, |sum, index| a[index].mul_add(b[index], sum));
    let block = |first: usize| {
        let mut sums: Vec<f64> = (0..THREADS).map(|index| thread(first + index)).collect();
        while sums.len() > 1 {
            let (low, high) = sums.split_at(sums.len() / 2);
            sums = low.iter().zip(high).map(|(low, high)| low + high).collect();
        }
        sums[0]
    };
    Program {
        name: "dot_f64",
        grid: "2",
        block: "128",
        results: [(3, bytes_of!([block(0), block(THREADS)]))].into(),
        arguments: vec![
            Argument::Bytes(bytes_of!(a.clone())),
            Argument::Bytes(bytes_of!(b.clone())),
            number(1000),
            zeros(16),
        ],
        ..Program::default()
    }
}
