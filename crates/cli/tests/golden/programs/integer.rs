//! Whole numbers: random points.

use super::{Program, bytes_of, number, zeros};

pub(super) fn monte_carlo() -> Program {
    let (seed, points) = (12_345_u32, 200);
    let thread = |index: u32| {
        let mut state = seed ^ index.wrapping_mul(2_654_435_761);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u64::from(state >> 16)
        };
        let inside = (0..points).filter(|_| next().pow(2) + next().pow(2) < 1 << 32).count() as u64;
        (inside, state)
    };
    let threads: Vec<_> = (0..256).map(thread).collect();
    Program {
        name: "monte_carlo",
        grid: "4",
        block: "64",
        results: [
            (2, bytes_of!([threads.iter().map(|(inside, _)| inside).sum::<u64>()])),
            (3, bytes_of!(threads.iter().map(|(_, state)| state))),
        ]
        .into(),
        arguments: vec![number(seed), number(points), zeros(8), zeros(1024)],
        ..Program::default()
    }
}
