//! What was read of memory by another address than it was written by.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A use of one memory by two addresses, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AliasUse {
    /// What was done.
    pub case: String,
    /// Whether it is defined what is read. If not, the numbers say what happened to be read, and are no verdict.
    pub defined: bool,
    /// How many words of 64 bits were to be read.
    pub words: u64,
    /// How many of them were read as they had been written.
    pub as_written: u64,
    /// How many of them were read as they had been before.
    pub as_before: u64,
    /// Reader and writer did not run at the same time, so nothing was tried.
    pub apart: bool,
    /// What a check that watches for mistakes said; nothing is known of what was read then.
    pub report: Option<String>,
}

impl fmt::Display for AliasUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, words, as_written, as_before, .. } = self;
        match (self.defined, &self.report, self.apart) {
            (true, ..) => write!(f, "{case}, defined: {as_written} of {words} words read as written"),
            (false, Some(report), _) => write!(f, "{case}, undefined: reported: {report}"),
            (false, None, true) => write!(f, "{case}, undefined: reader and writer did not run at the same time"),
            (false, None, false) => write!(
                f,
                "{case}, undefined: {as_written} of {words} words read as written, {as_before} as before; no verdict"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_defined_or_reported_has_a_verdict() {
        let told = AliasUse { case: "foo".to_owned(), words: 8, as_written: 5, as_before: 3, ..AliasUse::default() };
        assert_eq!(told.to_string(), "foo, undefined: 5 of 8 words read as written, 3 as before; no verdict");
        let reported = AliasUse { report: Some("a mistake".to_owned()), ..told.clone() };
        assert_eq!(reported.to_string(), "foo, undefined: reported: a mistake");
        let apart = AliasUse { apart: true, ..told.clone() };
        assert_eq!(apart.to_string(), "foo, undefined: reader and writer did not run at the same time");
        let defined = AliasUse { defined: true, as_written: 8, ..told };
        assert_eq!(defined.to_string(), "foo, defined: 8 of 8 words read as written");
    }
}
