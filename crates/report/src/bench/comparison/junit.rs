//! A comparison as test cases.

use super::floors::FloorCheck;
use super::matched::Comparison;
use super::sides::Compared;
use crate::bench::result::Skipped;
use crate::bench::verdict::{Threshold, Verdict};
use crate::junit::{Case, Outcome, Suite, xml};

impl Comparison {
    /// The comparison in the XML of JUnit. Of the suite `verdicts` each benchmark is a case: one that became slower failed, and
    /// one of which nothing can be said, or that only one side has, was skipped, with the reason. Of the suite `floors`, which
    /// is there if the new result has floors, each floor is a case, and one that was missed failed. So a case failed exactly
    /// where the exit code is that of a regression.
    #[must_use]
    pub fn junit(&self) -> String {
        let suite = |name: &str, properties, cases| Suite { name: name.to_owned(), properties, cases };
        let mut suites = vec![suite("verdicts", self.properties(), self.cases())];
        if !self.floors.is_empty() {
            suites.push(suite("floors", Vec::new(), self.floors.iter().map(of_floor).collect()));
        }
        xml(&suites)
    }

    fn properties(&self) -> Vec<(String, String)> {
        let sides = [("base", &self.base), ("new", &self.new)].into_iter().flat_map(|(which, side)| {
            let began = (format!("{which} began"), side.started.clone());
            let commit = side.provenance.as_ref().and_then(|build| build.commit.clone());
            [began, (format!("{which} runs"), side.runs.to_string())]
                .into_iter()
                .chain(commit.map(|commit| (format!("{which} commit"), commit)))
        });
        let own = [("summary", self.summary.clone()), ("threshold", self.threshold.to_string())];
        let differences = self.machine_differences.iter().map(|text| ("the machines differ".to_owned(), text.clone()));
        own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(sides).chain(differences).collect()
    }

    fn cases(&self) -> Vec<Case> {
        let both = self.benchmarks.iter().map(|compared| Case::of_id(&compared.id, outcome(compared, self.threshold)));
        let base = self.only_in_base.iter().map(|id| {
            let reason = match self.new.why_skipped(id) {
                Some(reason) => format!("skipped: {reason}"),
                None => "missing: only the base has it".to_owned(),
            };
            Case::of_id(id, Outcome::Skipped(reason))
        });
        let new = self.only_in_new.iter().map(|id| {
            let reason = match self.base.why_skipped(id) {
                Some(reason) => format!("added: the base skipped it: {reason}"),
                None => "added: only the new result has it".to_owned(),
            };
            Case::of_id(id, Outcome::Skipped(reason))
        });
        // A group that was skipped stands for itself where no benchmark of the base says the same.
        let told = |group: &Skipped| self.only_in_base.iter().any(|id| group.covers(id));
        let groups = self.new.skipped.iter().filter(|group| !told(group));
        let groups = groups.map(|group| Case::of_id(&group.id, Outcome::Skipped(format!("skipped: {}", group.reason))));
        both.chain(base).chain(new).chain(groups).collect()
    }
}

fn outcome(compared: &Compared, threshold: Threshold) -> Outcome {
    let [base, new, ratio, interval] = compared.cells();
    match compared.verdict {
        Verdict::Slower => Outcome::Failed {
            message: format!("{ratio} times as slow ({interval})"),
            details: format!(
                "base {base}, new {new}: {ratio} times as slow, 95 % interval {interval}, threshold {threshold}"
            ),
        },
        Verdict::Ambiguous => Outcome::Skipped(match &compared.reason {
            Some(reason) => format!("ambiguous: {reason}"),
            None => format!("ambiguous: {ratio} times as slow, but the interval is {interval}, threshold {threshold}"),
        }),
        Verdict::Faster | Verdict::Same => Outcome::Passed,
    }
}

fn of_floor(floor: &FloorCheck) -> Case {
    let missed = || Outcome::Failed { message: "the floor is missed".to_owned(), details: floor.words() };
    Case::of_id(&floor.id, if floor.reached { Outcome::Passed } else { missed() })
}
