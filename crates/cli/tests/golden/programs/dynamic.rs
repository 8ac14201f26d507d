//! Calls that are decided when the program runs.

use super::{Argument, Program, bytes_of, noise, number, words, zeros};

fn fibonacci(n: u32) -> u32 {
    (0..n).fold((0, 1), |(this, next), _| (next, this + next)).0
}

pub(super) fn device_recursion() -> Program {
    Program {
        name: "device_recursion",
        grid: "2",
        block: "32",
        results: [(0, bytes_of!((0..64).map(|index| fibonacci(index % 11))))].into(),
        arguments: vec![zeros(256)],
        ..Program::default()
    }
}

pub(super) fn device_pointers() -> Program {
    let (which, numbers) = (noise(11, 200), words(12, 200));
    let operation = |index: usize| {
        let (a, b) = (numbers[index].cast_signed(), index as i32);
        match which[index] & 3 {
            0 => a.wrapping_add(b),
            1 => a.wrapping_sub(b),
            2 => a.wrapping_mul(b),
            _ => a << 3 ^ b,
        }
    };
    Program {
        name: "device_pointers",
        grid: "2",
        block: "128",
        results: [(1, bytes_of!((0..200).map(operation)))].into(),
        arguments: vec![Argument::Bytes(which.clone()), Argument::Bytes(bytes_of!(numbers.clone())), number(200)],
        ..Program::default()
    }
}
