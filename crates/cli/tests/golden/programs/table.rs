//! Tables: of branches, of numbers in constant memory, and of each thread's own.

use super::{Argument, Program, bytes_of, noise, number, words, zeros};

/// What the machine of `switch_table` does with a value.
fn executed(code: u32, value: u32, index: u32) -> u32 {
    match code {
        0 => value.wrapping_add(0x9E37_79B9),
        1 => value ^ value << 13,
        2 => value ^ value >> 17,
        3 => value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223),
        4 => !value,
        5 => value.reverse_bits(),
        6 => value.rotate_left(7),
        7 => value.count_ones() * 0x0101_0101,
        8 => value.wrapping_sub(index),
        9 => value % 1_000_003,
        10 => value >> 8 | index << 24,
        _ => value.leading_zeros() + value / 3,
    }
}

pub(super) fn switch_table() -> Program {
    let (program, values) = (noise(14, 40), words(15, 100));
    let result = |(index, value): (u32, &u32)| {
        program.iter().fold(*value, |value, byte| executed((u32::from(*byte) + (index & 3)) % 12, value, index))
    };
    Program {
        name: "switch_table",
        grid: "4",
        block: "32",
        results: [(2, bytes_of!((0..).zip(&values).map(result)))].into(),
        arguments: vec![
            Argument::Bytes(program.clone()),
            number(40),
            Argument::Bytes(bytes_of!(values.clone())),
            number(100),
        ],
        ..Program::default()
    }
}

pub(super) fn local_array() -> Program {
    const PRIMES: [u32; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];
    let order = noise(13, 16);
    let mixed = |index: u32| {
        let mut seen = [0_u32; 16];
        for (byte, prime) in order.iter().zip(PRIMES) {
            let place = &mut seen[(usize::from(*byte) + index as usize) % 16];
            *place = place.wrapping_mul(31).wrapping_add(prime + index);
        }
        let places = order.iter().map(|byte| seen[usize::from(*byte) % 16]);
        places.fold(0_u32, |mixed, value| mixed.wrapping_mul(33).wrapping_add(value))
    };
    Program {
        name: "local_array",
        grid: "4",
        block: "32",
        results: [(1, bytes_of!((0..100).map(mixed)))].into(),
        arguments: vec![Argument::Bytes(order.clone()), zeros(400), number(100)],
        ..Program::default()
    }
}
