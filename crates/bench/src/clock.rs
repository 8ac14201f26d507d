//! Times of the host, as samples.

use std::time::{Duration, Instant};

use crate::error::BenchError;

/// How long a call takes, in nanoseconds, and what it gives.
pub(crate) fn timed<T>(call: impl FnOnce() -> peermap_driver::Result<T>) -> Result<(T, f64), BenchError> {
    let start = Instant::now();
    let answer = call();
    let elapsed = start.elapsed();
    Ok((answer?, nanoseconds(elapsed)))
}

/// A time as a sample.
pub(crate) fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// The times from each of these moments to the next, as samples.
pub(crate) fn between(moments: &[Instant]) -> Vec<f64> {
    moments.windows(2).map(|pair| nanoseconds(pair[1] - pair[0])).collect()
}
