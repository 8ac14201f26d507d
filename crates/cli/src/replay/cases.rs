//! Traces as test cases.

use peermap_report::junit::{self, Case, Outcome, Suite};

use super::tally::{Played, Tally};

/// The case of a trace. Its class is the file without its extension.
pub(super) fn case(played: &Played) -> Case {
    let class = played.file.with_extension("").to_string_lossy().into_owned();
    Case { class, name: played.trace.clone(), outcome: outcome(played) }
}

fn outcome(played: &Played) -> Outcome {
    let Played { left_out, steps, matched, mismatches, .. } = played;
    if let Some(left_out) = left_out {
        return Outcome::Skipped(format!("it needs {} devices and there are {}", left_out.needs, left_out.devices));
    }
    if *steps == 0 {
        return Outcome::Skipped("it has no step".to_owned());
    }
    if !played.differs() {
        return Outcome::Passed;
    }
    let told: Vec<String> = mismatches.iter().map(|found| found.mismatch.to_string()).collect();
    Outcome::Failed {
        message: format!("{} of {steps} steps are answered differently", steps - matched),
        details: told.join("\n"),
    }
}

/// All cases in the XML of JUnit.
pub(super) fn xml(tally: &Tally) -> String {
    junit::xml(&[Suite { name: "replay".to_owned(), properties: Vec::new(), cases: tally.cases.clone() }])
}
