//! What nvcc made of `fixtures/ptx/cuda`, without and with optimisation and for debuggers, and what each program must
//! give: the same work in Rust, with nothing of the simulator.

mod dynamic;
mod float;
mod half;
mod integer;
mod order;
mod print;
mod sum;
mod table;
mod thread;
mod wait;

use std::collections::BTreeMap;
use std::path::Path;

use crate::case::{Argument, Case, Expected};

/// A program with what it is given and what it must give.
#[derive(Default)]
struct Program {
    /// The name of the source and of the kernel.
    name: &'static str,
    grid: &'static str,
    block: &'static str,
    shared: u64,
    arguments: Vec<Argument>,
    /// Lines that are printed.
    prints: Vec<String>,
    /// What buffers hold in the end, by the number of their argument.
    results: BTreeMap<usize, Vec<u8>>,
}

/// Each makes a program.
const PROGRAMS: &[fn() -> Program] = &[
    sum::reduce_shared,
    sum::reduce_shuffle,
    sum::scan_inclusive,
    sum::histogram_shared,
    sum::histogram_global,
    order::transpose_tiled,
    order::sort_bitonic,
    order::compact_ballot,
    order::find_bytes,
    thread::collatz,
    thread::device_calls,
    dynamic::device_recursion,
    dynamic::device_pointers,
    table::local_array,
    table::switch_table,
    integer::monte_carlo,
    print::print_line,
    float::matmul_f32,
    float::dot_f64,
    half::axpy_half,
    wait::spin_lock,
    wait::ticket_lock,
];

/// How nvcc was called; `fixtures/ptx/build.sh` has the options.
const LEVELS: [&str; 3] = ["O0", "O3", "G"];

/// All programs at all levels.
pub(crate) fn cases(fixtures: &Path) -> Vec<Case> {
    PROGRAMS.iter().flat_map(|program| LEVELS.map(|level| case(fixtures, program(), level))).collect()
}

fn case(fixtures: &Path, program: Program, level: &str) -> Case {
    Case {
        name: format!("nvcc/{}.{level}", program.name),
        file: fixtures.join("nvcc").join(format!("{}.{level}.ptx", program.name)),
        entry: program.name.to_owned(),
        grid: program.grid.to_owned(),
        block: program.block.to_owned(),
        shared: program.shared,
        deadline: None,
        arguments: program.arguments,
        prints: program.prints,
        finds: None,
        expected: Expected::Buffers(program.results),
    }
}

/// A buffer of zeros.
fn zeros(bytes: usize) -> Argument {
    text(format!("buf:{bytes}"))
}

/// A number.
fn number(value: u32) -> Argument {
    text(format!("u32:{value}"))
}

fn text(text: impl Into<String>) -> Argument {
    Argument::Text(text.into())
}

/// Bytes of numbers as they lie in memory.
macro_rules! bytes_of {
    ($values:expr) => {
        $values.into_iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()
    };
}
use bytes_of;

/// So many words without a visible pattern, always the same for a seed.
fn words(seed: u32, count: usize) -> Vec<u32> {
    let next = |state: &u32| {
        let state = state ^ state << 13;
        let state = state ^ state >> 17;
        Some(state ^ state << 5)
    };
    std::iter::successors(next(&seed), next).take(count).collect()
}

/// So many bytes without a visible pattern.
fn noise(seed: u32, count: usize) -> Vec<u8> {
    words(seed, count).into_iter().map(|word| word.to_le_bytes()[1]).collect()
}
