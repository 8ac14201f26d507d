//! Why a backend refused a call.

use std::fmt;

use peermap_driver::Explanation;
use serde::{Deserialize, Serialize};

/// The rules about handles that are gone or were never handed out: a call that breaks one crashes the real driver.
const HANDLE_RULES: &str = "HANDLE-";

/// Why a backend refused a call, here or in another OS process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Text", from = "Text")]
pub struct Reason(Told);

#[derive(Clone, Debug)]
enum Told {
    /// Put into words when somebody wants to read them: mostly nobody does.
    Here(Explanation),
    Elsewhere(Text),
}

/// A reason in words, as it comes from another OS process.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Text {
    rule: String,
    text: String,
}

impl Reason {
    /// The rule that was broken, such as `MAP-8`.
    #[must_use]
    pub fn rule(&self) -> &str {
        match &self.0 {
            Told::Here(explanation) => explanation.rule.0,
            Told::Elsewhere(text) => &text.rule,
        }
    }

    /// Whether the rule is about a handle that is gone or made up.
    pub(super) fn is_about_a_handle(&self) -> bool {
        self.rule().starts_with(HANDLE_RULES)
    }
}

impl From<Explanation> for Reason {
    fn from(explanation: Explanation) -> Self {
        Self(Told::Here(explanation))
    }
}

impl From<Text> for Reason {
    fn from(text: Text) -> Self {
        Self(Told::Elsewhere(text))
    }
}

impl From<Reason> for Text {
    fn from(reason: Reason) -> Self {
        Self { rule: reason.rule().to_owned(), text: reason.to_string() }
    }
}

impl fmt::Display for Reason {
    /// The rule with its sentence, the values that decided with their names, and the earlier call that this one collides
    /// with: its number and its process, both as the backend counts them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Told::Here(explanation) => explanation.fmt(f),
            Told::Elsewhere(text) => f.write_str(&text.text),
        }
    }
}
