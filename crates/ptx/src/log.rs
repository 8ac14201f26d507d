//! Errors as the error log of a driver has them.

mod statement;
mod words;

use crate::error::{Found, PtxError, PtxProblem};
use crate::lexer::{Position, tokenize};
use crate::module::Module;
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
        let mut rest = log.add(self, text);
        for _ in 1..MOST_PROBLEMS {
            let Some(text) = rest.take() else { break };
            if let Err(next) = Module::parse(&text) {
                rest = log.add(&next, &text);
            }
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

/// What was said so far.
#[derive(Default)]
struct Log {
    said: String,
    /// Names that are nowhere.
    unknown: Vec<(Position, String)>,
    ended: bool,
}

impl Log {
    /// Adds a problem; gives the text without the statement that it is in, if ptxas would go on.
    fn add(&mut self, error: &PtxError, text: &str) -> Option<String> {
        let tokens = tokenize(text).unwrap_or_default();
        let statement = Statement::around(&tokens, error.at);
        let line = error.line(text);
        for said in words::lines(&error.problem, statement.as_ref()) {
            match said {
                Line::Error(words) => self.say(&format!("ptxas {TEXT}, line {line}; error   : {words}\n")),
                Line::Unknown(words) => {
                    self.unknown.push((error.at, format!("ptxas {TEXT}, line {line}; error   : {words}\n")));
                }
                Line::Fatal(words) => {
                    self.unknown.clear();
                    self.say(&format!("ptxas {TEXT}, line {line}; fatal   : {words}\n"));
                    return None;
                }
                Line::FatalAtAll(words) => {
                    self.ended = true;
                    self.say(&format!("ptxas fatal   : {words}\n"));
                    return None;
                }
            }
        }
        statement.and_then(|statement| statement.left_out_of(text))
    }

    fn say(&mut self, line: &str) {
        self.said.push_str(line);
    }

    fn text(mut self) -> String {
        self.unknown.sort();
        self.said.extend(self.unknown.into_iter().map(|(_, line)| line));
        if !self.ended {
            self.said.push_str("ptxas fatal   : Ptx assembly aborted due to errors\n");
        }
        self.said
    }
}
