//! Results of benchmarks: what was measured, on what, with every sample.

mod machine;
mod result;
mod unit;

pub use machine::{DeviceFacts, Guard, Load, Machine};
pub use result::{BENCH_SCHEMA, BenchReport, Benchmark, Floor, ReadError, Skipped};
pub use unit::{Better, Unit};
