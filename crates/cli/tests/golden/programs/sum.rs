//! Sums and counts of many numbers.

use super::{Argument, Program, bytes_of, noise, number, text, words, zeros};

fn sum(numbers: &[u32]) -> u32 {
    numbers.iter().copied().fold(0, u32::wrapping_add)
}

pub(super) fn reduce_shared() -> Program {
    let numbers = words(1, 1000);
    Program {
        name: "reduce_shared",
        grid: "4",
        block: "256",
        results: [(2, bytes_of!(numbers.chunks(256).map(sum)))].into(),
        arguments: vec![Argument::Bytes(bytes_of!(numbers)), number(1000), zeros(16)],
        ..Program::default()
    }
}

pub(super) fn reduce_shuffle() -> Program {
    let numbers = words(2, 5000);
    Program {
        name: "reduce_shuffle",
        grid: "3",
        block: "96",
        results: [(2, sum(&numbers).to_le_bytes().to_vec())].into(),
        arguments: vec![Argument::Bytes(bytes_of!(numbers)), number(5000), zeros(4)],
        ..Program::default()
    }
}

pub(super) fn scan_inclusive() -> Program {
    let numbers = words(3, 1000);
    let running = |block: &[u32]| {
        let mut sum = 0_u32;
        let sums = block.iter().map(|number| {
            sum = sum.wrapping_add(*number);
            sum
        });
        sums.collect::<Vec<_>>()
    };
    Program {
        name: "scan_inclusive",
        grid: "4",
        block: "256",
        shared: 2 * 256 * 4,
        results: [(1, bytes_of!(numbers.chunks(256).flat_map(running)))].into(),
        arguments: vec![Argument::Bytes(bytes_of!(numbers)), zeros(4000), number(1000)],
        ..Program::default()
    }
}

/// How often each byte occurs.
fn counts(bytes: &[u8]) -> [u32; 256] {
    let mut counts = [0; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    counts
}

pub(super) fn histogram_shared() -> Program {
    let bytes = noise(4, 10_000);
    Program {
        name: "histogram_shared",
        grid: "4",
        block: "128",
        results: [(2, bytes_of!(counts(&bytes)))].into(),
        arguments: vec![Argument::Bytes(bytes), number(10_000), zeros(1024)],
        ..Program::default()
    }
}

pub(super) fn histogram_global() -> Program {
    let bytes: Vec<u8> = noise(5, 3000).into_iter().map(|byte| byte / 3 + 20).collect();
    let range = [bytes.iter().min(), bytes.iter().max()].map(|byte| i32::from(*byte.expect("there are some")));
    Program {
        name: "histogram_global",
        grid: "2",
        block: "64",
        results: [(2, bytes_of!(counts(&bytes).map(u64::from))), (3, bytes_of!(range))].into(),
        arguments: vec![
            Argument::Bytes(bytes),
            number(3000),
            text("buf:2048"),
            Argument::Bytes(bytes_of!([i32::MAX, i32::MIN])),
        ],
        ..Program::default()
    }
}
