//! What printf prints and answers.

use super::{Program, bytes_of, text, zeros};

pub(super) fn print_line() -> Program {
    Program {
        name: "print_line",
        grid: "1",
        block: "4",
        prints: ["0: 0 0 even", "1: -5 0.5 odd", "2: -10 1 even", "3: -15 1.5 odd"]
            .map(|line| format!("thread {line}"))
            .into(),
        results: [(0, bytes_of!([4_i32; 4]))].into(),
        arguments: vec![zeros(16), text("f64:0.5")],
        ..Program::default()
    }
}
