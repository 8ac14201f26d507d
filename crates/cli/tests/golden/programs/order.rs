//! Things brought into another order, and found.

use super::{Argument, Program, bytes_of, noise, number, text, words, zeros};

pub(super) fn transpose_tiled() -> Program {
    let (width, height) = (70, 45);
    let rows: Vec<f32> = words(6, width * height).into_iter().map(|word| (word >> 12) as f32).collect();
    let turned = (0..width).flat_map(|x| (0..height).map(move |y| y * width + x)).map(|place| rows[place]);
    Program {
        name: "transpose_tiled",
        grid: "3,2",
        block: "32,8",
        results: [(1, bytes_of!(turned))].into(),
        arguments: vec![Argument::Bytes(bytes_of!(rows.clone())), zeros(4 * width * height), number(70), number(45)],
        ..Program::default()
    }
}

pub(super) fn sort_bitonic() -> Program {
    let numbers: Vec<i32> = words(7, 1024).into_iter().map(u32::cast_signed).collect();
    let mut sorted = numbers.clone();
    sorted.chunks_mut(512).for_each(<[i32]>::sort_unstable);
    Program {
        name: "sort_bitonic",
        grid: "2",
        block: "256",
        arguments: vec![Argument::Bytes(bytes_of!(numbers))],
        results: [(0, bytes_of!(sorted))].into(),
        ..Program::default()
    }
}

pub(super) fn compact_ballot() -> Program {
    let numbers = words(8, 256);
    let odd = |warp: &[u32]| warp.iter().copied().filter(|number| number % 2 == 1).collect::<Vec<_>>();
    let kept: Vec<_> = numbers.chunks(32).map(odd).collect();
    let filled = |odd: &Vec<u32>| odd.iter().copied().chain(std::iter::repeat(0)).take(32).collect::<Vec<_>>();
    Program {
        name: "compact_ballot",
        grid: "2",
        block: "128",
        results: [
            (1, bytes_of!(kept.iter().flat_map(filled))),
            (2, bytes_of!(kept.iter().map(|odd| odd.len() as u32))),
        ]
        .into(),
        arguments: vec![Argument::Bytes(bytes_of!(numbers)), zeros(1024), zeros(32)],
        ..Program::default()
    }
}

pub(super) fn find_bytes() -> Program {
    let word = b"abba";
    let letters: Vec<u8> = noise(9, 3000).into_iter().map(|byte| b"ab"[usize::from(byte) % 2]).collect();
    let found: Vec<usize> = (0..=3000 - 4).filter(|start| &letters[*start..start + 4] == word).collect();
    Program {
        name: "find_bytes",
        grid: "24",
        block: "128",
        results: [(4, bytes_of!([found[0] as u32])), (5, bytes_of!([found.len() as u32]))].into(),
        arguments: vec![
            Argument::Bytes(letters),
            number(3000),
            Argument::Bytes(word.to_vec()),
            number(4),
            text("buf:4=0xff"),
            zeros(4),
        ],
        ..Program::default()
    }
}
