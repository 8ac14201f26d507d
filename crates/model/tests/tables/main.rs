//! Whole transition tables: each state of a thing against each call that concerns it.
//!
//! Every cell is a fresh process that is brought into the state of the row and then makes the call of the column. A cell
//! says `ok` or the rule that refuses.

mod address;
mod bench;
mod context;
mod handle;
mod machine;
mod work;

use std::fmt::Write;

use bench::Bench;
use peermap_driver::Result;

/// A state: its name, and how a fresh process gets there. It gives what the calls are about.
pub type State<T> = (&'static str, fn(&mut Bench) -> T);

/// A call: its name, and how it is made.
pub type Event<T> = (&'static str, fn(&mut Bench, &T) -> Result<()>);

/// The table as text: one line for each state, its cells in columns.
pub fn table<T>(states: &[State<T>], events: &[Event<T>]) -> String {
    const STATE_WIDTH: usize = 18;
    const CELL_WIDTH: usize = 12;
    let mut text = format!("{:STATE_WIDTH$}", "");
    for (name, _) in events {
        write!(text, "{name:CELL_WIDTH$}").unwrap();
    }
    for (name, reach) in states {
        write!(text, "\n{name:STATE_WIDTH$}").unwrap();
        for (_, happen) in events {
            let mut bench = Bench::new();
            let subject = reach(&mut bench);
            let cell = match happen(&mut bench, &subject) {
                Ok(()) => "ok",
                Err(error) => error.rule().unwrap_or_else(|| panic!("no rule in {error}")).0,
            };
            write!(text, "{cell:CELL_WIDTH$}").unwrap();
        }
    }
    text
}

/// Compares a table with the one that stands in the test.
pub fn assert_table(got: &str, expected: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.trim_matches('\n').lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(lines(got), lines(expected), "\n{got}\n");
}
