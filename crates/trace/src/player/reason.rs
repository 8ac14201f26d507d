//! Why a backend refused a call, as text.

use std::fmt;

use peermap_driver::Explanation;
use serde::{Deserialize, Serialize};

/// The rules about handles that are gone or were never handed out: a call that breaks one crashes the real driver.
const HANDLE_RULES: &str = "HANDLE-";

/// Why a backend refused a call. It is text, so that it can come from another OS process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// The rule that was broken, such as `MAP-8`.
    pub rule: String,
    /// The rule, its sentence, the values that decided with their names, and the earlier call that this one collides
    /// with: its number and its process, both as the backend counts them.
    pub text: String,
}

impl Reason {
    /// Whether the rule is about a handle that is gone or made up.
    pub(super) fn is_about_a_handle(&self) -> bool {
        self.rule.starts_with(HANDLE_RULES)
    }
}

impl From<&Explanation> for Reason {
    fn from(explanation: &Explanation) -> Self {
        Self { rule: explanation.rule.to_string(), text: explanation.to_string() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
