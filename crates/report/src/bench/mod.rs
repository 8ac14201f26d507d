//! Results of benchmarks: what was measured, on what, with every sample, and what two of them say about each other.

mod comparison;
mod machine;
mod nvbandwidth;
mod paired;
mod ratio;
mod result;
mod runs;
mod samples;
#[cfg(test)]
mod schema;
mod summary;
mod unit;
mod verdict;

pub use comparison::{Compared, Comparison, ComparisonOptions, Counts, FloorCheck, Incomparable, Side};
pub use machine::{DeviceFacts, Guard, Load, Machine};
pub use nvbandwidth::{ImportError, Nvbandwidth};
pub use result::{BENCH_SCHEMA, BenchReport, Benchmark, Floor, Peak, ReadError, Skipped};
pub use samples::SamplesError;
pub use summary::{CONFIDENCE, Interval, SampleError, Summary};
pub use unit::{Better, Unit};
pub use verdict::{Change, Threshold, ThresholdError, Verdict};
