//! Errors as the error log of a driver has them.

mod statement;
mod words;

use crate::error::{Found, PtxError, PtxProblem};
use crate::lexer::{Position, tokenize};
use crate::module::Module;
use crate::needs;
use crate::parser;
use statement::Statement;

/// What ptxas calls the text that a driver gives it.
const TEXT: &str = "application ptx input";

/// How many problems are looked for: to find another one, the text is read again.
const MOST_PROBLEMS: u32 = 32;

/// A line of the log.
enum Line {
    /// ptxas goes on and looks for more.
    Error(String),
    /// The same, about a name that is nowhere: listed when all has been read.
    Unknown(String),
    /// It does not go on.
    Fatal(String),
    /// The same, about no line of the text.
    FatalAtAll(String),
}

impl PtxError {
    /// What the error log of a driver says about a text whose first problem this is: what ptxas writes, word for word
    /// for what is commonly wrong. It goes on after what is wrong in one instruction or declaration, and so does this.
    ///
    /// # Source
    /// ptxas 13.0.88; `tests/data/log.txt` has what it says to some texts.
    #[must_use]
    pub fn log(&self, text: &str) -> String {
        let mut log = Log::default();
        let mut rest = text.to_owned();
        let mut problem = match self.problem {
            // All of that sort are looked for below.
            PtxProblem::Unmet { .. } => parse(text).err(),
            _ => Some(self.clone()),
        };
        for _ in 0..MOST_PROBLEMS {
            let Some(found) = problem.take() else { break };
            let Some(without) = log.add(&found, &rest) else { break };
            problem = parse(&without).err();
            rest = without;
        }
        // Not of the statements that something else is wrong with.
        for unmet in needs::unmet(&tokenize(&rest).unwrap_or_default()) {
            log.add(&unmet, text);
        }
        log.text()
    }

    /// The line that ptxas is in when it notices.
    fn line(&self, text: &str) -> u32 {
        let is_at_the_end = matches!(self.problem, PtxProblem::UnterminatedBracket { .. })
            || self.problem.found().is_some_and(|found| *found == Found::End);
        if is_at_the_end { 1 + text.matches('\n').count() as u32 } else { self.at.line }
    }
}

/// What is wrong with a text apart from what its header does not allow.
fn parse(text: &str) -> Result<Module, PtxError> {
    parser::parse(&tokenize(text)?)
}

/// What was said so far.
#[derive(Default)]
struct Log {
    /// Lines and where in the text they belong.
    errors: Vec<(Position, String)>,
    /// Names that are nowhere: listed behind them.
    unknown: Vec<(Position, String)>,
    /// Where it went no further, and what it said last; nothing that stands behind that is said.
    end: Option<(Position, Vec<String>)>,
}

const ABORTED: &str = "ptxas fatal   : Ptx assembly aborted due to errors";

impl Log {
    /// Adds a problem; gives the text without the statement that it is in, if ptxas would go on.
    fn add(&mut self, error: &PtxError, text: &str) -> Option<String> {
        let tokens = tokenize(text).unwrap_or_default();
        let statement = Statement::around(&tokens, error.at);
        let (at, place) = (error.at, format!("ptxas {TEXT}, line {};", error.line(text)));
        for said in words::lines(&error.problem, statement.as_ref()) {
            match said {
                Line::Error(words) => self.errors.push((at, format!("{place} error   : {words}"))),
                Line::Unknown(words) => self.unknown.push((at, format!("{place} error   : {words}"))),
                Line::Fatal(words) => {
                    self.end = Some((at, vec![format!("{place} fatal   : {words}"), ABORTED.to_owned()]));
                    return None;
                }
                Line::FatalAtAll(words) => {
                    self.end = Some((at, vec![format!("ptxas fatal   : {words}")]));
                    return None;
                }
            }
        }
        statement.and_then(|statement| statement.left_out_of(text))
    }

    fn text(mut self) -> String {
        self.errors.sort_by_key(|(at, _)| *at);
        self.unknown.sort();
        let last = match self.end {
            Some((end, last)) => {
                self.errors.retain(|(at, _)| *at < end);
                self.unknown.clear();
                last
            }
            None => vec![ABORTED.to_owned()],
        };
        let errors = self.errors.into_iter().chain(self.unknown).map(|(_, line)| line);
        errors.chain(last).map(|line| line + "\n").collect()
    }
}
