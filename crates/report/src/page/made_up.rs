//! Benchmarks for tests.

use crate::bench::{Benchmark, Unit};

/// A benchmark of seven samples about 10 ns.
pub(super) fn benchmark(suite: &str, name: &str, parameters: &[(&str, &str)]) -> Benchmark {
    Benchmark {
        suite: suite.to_owned(),
        name: name.to_owned(),
        parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        unit: Unit::Nanoseconds,
        samples: vec![10.2, 10.1, 10.0, 10.3, 10.2, 10.1, 19.0],
        floor: None,
        peak: None,
    }
}
