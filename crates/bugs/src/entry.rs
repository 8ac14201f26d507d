//! What an entry is, and what comes of it.

use std::time::Duration;

use peermap_model::Rule;
use serde::{Deserialize, Serialize};

use crate::stage::Stage;
use crate::trouble::Trouble;

/// A known bug.
pub struct Entry {
    /// Its name, such as `E3`.
    pub id: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Who was hurt by it.
    pub source: &'static str,
    /// The rules of the simulated driver that catch it.
    pub rules: &'static [&'static Rule],
    /// What else catches it.
    pub also: &'static str,
    /// Whether hardware can show it.
    pub hardware: Hardware,
    /// The sequence.
    pub(crate) sequence: fn(&Stage) -> Result<(), Trouble>,
}

/// Whether hardware can show an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hardware {
    /// It can, or the entry needs no device.
    Shows,
    /// It cannot, and why.
    Cannot(&'static str),
}

impl Entry {
    /// What catches it: rules by their names, and the rest in words.
    #[must_use]
    pub fn caught_by(&self) -> String {
        let rules = self.rules.iter().map(|rule| rule.id.to_string());
        rules.chain((!self.also.is_empty()).then(|| self.also.to_owned())).collect::<Vec<_>>().join(", ")
    }

    /// Plays it in this very process. It may fault, lower limits and leave them so: [`play`](crate::play) has a process for it.
    #[must_use]
    pub fn play_here(&self, stage: &Stage) -> Verdict {
        if let (true, Hardware::Cannot(why)) = (stage.is_real(), self.hardware) {
            return Verdict::Skipped(why.to_owned());
        }
        match (self.sequence)(stage) {
            Ok(()) => Verdict::Passed,
            Err(Trouble::NotHere(why)) => Verdict::Skipped(why),
            Err(trouble) => Verdict::Failed(trouble.to_string()),
        }
    }
}

/// What came of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// All was as it must be.
    Passed,
    /// Something was not.
    Failed(String),
    /// This machine cannot show it, and why.
    Skipped(String),
}

/// An entry that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// What came of it.
    pub verdict: Verdict,
    /// How long it took, the start of its process included.
    pub took: Duration,
}

/// No entry has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no entry {id:?}; the entries are {}", known.join(", "))]
pub struct UnknownEntry {
    /// What was asked for.
    pub id: String,
    /// What there is.
    pub known: Vec<&'static str>,
}
