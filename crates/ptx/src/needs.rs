//! What the statements of a text need of its version and its target.

mod directives;
mod rules;
mod words;

use std::collections::HashSet;
use std::fmt;

use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::header::{self, Header};
use crate::lexer::{Position, Token};
use crate::statements::statements;
use rules::RULES;
use words::Instruction;

/// A part of the language that the version or the target of a text does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// What it is, in the words of ptxas: `Feature 'redux'`.
    pub what: String,
    /// What it needs.
    pub need: Need,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} needs {}", self.what, self.need)
    }
}

/// What a part of the language needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// This version of the language or a later one.
    Version(u8, u8),
    /// This architecture or a higher one.
    Sm(u32),
    /// The same, which is told in other words.
    Code(u32),
    /// Code for one architecture or one family alone, from this architecture on: `sm_90a`.
    Only(u32),
    /// A version before this one, or an architecture below this one: it is gone.
    Before(u8, u8, u32),
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(major, minor) => write!(f, "`.version {major}.{minor}` or later"),
            Self::Sm(sm) | Self::Code(sm) => write!(f, "`.target sm_{sm}` or higher"),
            Self::Only(sm) => write!(f, "a target such as `sm_{sm}a`"),
            Self::Before(major, minor, sm) => write!(f, "a version before {major}.{minor} or a target below sm_{sm}"),
        }
    }
}

impl Need {
    fn is_met(self, header: &Header) -> bool {
        let sm = header.target.sm().unwrap_or(0);
        match self {
            Self::Version(major, minor) => header.version >= (major, minor),
            Self::Sm(least) | Self::Code(least) => sm >= least,
            Self::Only(least) => sm >= least && header.target.name.ends_with(['a', 'f']),
            Self::Before(major, minor, least) => header.version < (major, minor) || sm < least,
        }
    }
}

/// All that a text has and its header does not allow, in the order of the text. A text without a header is not looked at:
/// its problem is another one.
pub(crate) fn unmet(tokens: &[Token<'_>]) -> Vec<PtxError> {
    let Ok(mut header) = header::parse(&mut Cursor::new(tokens)) else { return Vec::new() };
    let (mut met, mut problems) = (HashSet::new(), Vec::new());
    for statement in statements(tokens) {
        match Instruction::of(statement) {
            Some(Instruction { words, .. }) if met.contains(&words) => {}
            Some(Instruction { words, at }) => {
                let rules = if words.is_unmodelled() { &[] } else { RULES };
                let unmet: Vec<Unmet> = rules.iter().flat_map(|rule| rule.unmet(&words, &header)).collect();
                if unmet.is_empty() {
                    met.insert(words);
                } else {
                    problems.push(problem(at, unmet, &header));
                }
            }
            None if statement[0].is(".target") => {
                if let Ok(further) = header::target(&mut Cursor::new(&statement[1..])) {
                    header.target.join(further);
                    met.clear();
                }
            }
            None => {
                problems.extend(directives::unmet(statement, &header).map(|(at, unmet)| problem(at, unmet, &header)))
            }
        }
    }
    problems
}

fn problem(at: Position, unmet: Vec<Unmet>, header: &Header) -> PtxError {
    let (version, target) = (header.version, header.target.name.clone());
    PtxError { at, problem: PtxProblem::Unmet { unmet, version, target } }
}
