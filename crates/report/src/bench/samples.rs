//! What any other program measured, as a result of ours.

use serde::Deserialize;

use super::machine::Load;
use super::result::{BenchReport, Benchmark};

/// Why a text has no samples that can be imported.
#[derive(Debug, thiserror::Error)]
pub enum SamplesError {
    /// It is no JSON, or has other keys.
    #[error("it has no `benchmarks` as a result file has them: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It has no benchmark.
    #[error("it has no benchmark")]
    Empty,
}

impl BenchReport {
    /// What another program measured on the machine of `like` and on the same driver: an object whose `benchmarks` are those of a
    /// result file. All else is taken from `like`, so that the two can be compared.
    ///
    /// ```
    /// use peermap_report::bench::BenchReport;
    ///
    /// let ours = BenchReport::new("cuda", "2026-01-31T12:00:00Z");
    /// let text = r#"{"benchmarks": [
    ///     {"suite": "control", "name": "cuMemCreate", "parameters": {"size": "2 MiB"}, "unit": "ns", "samples": [14700, 14900]}
    /// ]}"#;
    /// let theirs = BenchReport::of_samples(text, &ours, "2026-01-31T12:01:00Z")?;
    /// assert_eq!(theirs.benchmarks[0].id(), "control/cuMemCreate/size=2 MiB");
    /// assert_eq!(theirs.source, "cuda");
    /// # Ok::<(), peermap_report::bench::SamplesError>(())
    /// ```
    ///
    /// # Errors
    /// [`SamplesError`]: it has something else, or nothing.
    pub fn of_samples(text: &str, like: &Self, started: &str) -> Result<Self, SamplesError> {
        #[derive(Deserialize)]
        struct Samples {
            benchmarks: Vec<Benchmark>,
        }
        let Samples { benchmarks } = serde_json::from_str(text)?;
        if benchmarks.is_empty() {
            return Err(SamplesError::Empty);
        }
        // What disturbed the other run, and by which build it was, says nothing of this one.
        let (provenance, load, started) = (None, Load::default(), started.to_owned());
        Ok(Self { benchmarks, provenance, load, started, guards: Vec::new(), ..like.without_samples() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_samples_is_refused() {
        let like = BenchReport::new("cuda", "2026-01-31T12:00:00Z");
        let refused = |text| BenchReport::of_samples(text, &like, "").unwrap_err().to_string();
        assert_eq!(refused(r#"{"benchmarks": []}"#), "it has no benchmark");
        assert!(refused(r#"{"results": []}"#).contains("missing field `benchmarks`"));
        assert!(refused("cuMemCreate 14700").starts_with("it has no `benchmarks` as a result file has them"));
    }
}
