//! What a test case can be.

/// What came of a test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is as it should be.
    Passed,
    /// It is not.
    Failed {
        /// What is wrong, in a line.
        message: String,
        /// All that is known of it.
        details: String,
    },
    /// Nothing can be said, for this reason.
    Skipped(String),
}

/// A test case. CI systems know it again from run to run by its class and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What it belongs to.
    pub class: String,
    /// Its name in there.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
}

impl Case {
    /// A case whose id begins with its class: `control/mem_create/size=2 MiB` is `mem_create/size=2 MiB` of `control`. An id
    /// without a `/` is a class of its own.
    #[must_use]
    pub fn of_id(id: &str, outcome: Outcome) -> Self {
        let (class, name) = id.split_once('/').unwrap_or((id, id));
        Self { class: class.to_owned(), name: name.to_owned(), outcome }
    }
}

/// Test cases that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// What the cases have in common: names and values.
    pub properties: Vec<(String, String)>,
    /// The cases.
    pub cases: Vec<Case>,
}

impl Suite {
    /// How many cases failed.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed { .. })).count()
    }

    /// How many cases were skipped.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Skipped(_))).count()
    }
}
