//! Blocks that wait for each other.

use super::{Program, bytes_of, number, zeros};

pub(super) fn spin_lock() -> Program {
    let (blocks, rounds) = (8_u32, 50);
    Program {
        name: "spin_lock",
        grid: "8",
        block: "32",
        arguments: vec![zeros(4), zeros(8), number(rounds)],
        results: [(0, vec![0; 4]), (1, bytes_of!([blocks * rounds, rounds * (0..blocks).sum::<u32>()]))].into(),
        ..Program::default()
    }
}

pub(super) fn ticket_lock() -> Program {
    let places = std::iter::successors(Some(1_u32), |before| Some(3 * before + 1));
    Program {
        name: "ticket_lock",
        grid: "12",
        block: "64",
        arguments: vec![zeros(4), zeros(4), zeros(48)],
        results: [(0, bytes_of!([12_u32])), (1, bytes_of!([12_u32])), (2, bytes_of!(places.take(12)))].into(),
        ..Program::default()
    }
}
