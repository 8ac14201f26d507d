//! A place in a list of tokens, and the steps that every parser here is made of.

use crate::error::{Found, PtxError, PtxProblem, excerpt};
use crate::lexer::{Position, Token, TokenKind};

/// Moves over tokens. A step that fails leaves the place as it was.
#[derive(Clone)]
pub(crate) struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    next: usize,
}

impl<'t, 'a> Cursor<'t, 'a> {
    pub(crate) fn new(tokens: &'t [Token<'a>]) -> Self {
        Self { tokens, next: 0 }
    }

    /// How many tokens lie behind.
    pub(crate) fn index(&self) -> usize {
        self.next
    }

    /// The tokens from the one numbered `start` up to here.
    pub(crate) fn since(&self, start: usize) -> &'t [Token<'a>] {
        &self.tokens[start..self.next]
    }

    pub(crate) fn peek(&self) -> Option<&'t Token<'a>> {
        self.tokens.get(self.next)
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.is(text))
    }

    pub(crate) fn advance(&mut self) {
        self.next = self.tokens.len().min(self.next + 1);
    }

    /// The place of the next token, or the end of the last one.
    pub(crate) fn at(&self) -> Position {
        let end = |last: &Token<'_>| {
            let length = u32::try_from(last.text.chars().count()).unwrap_or(u32::MAX);
            Position { column: last.at.column.saturating_add(length), ..last.at }
        };
        let next = self.peek().map(|token| token.at);
        next.or_else(|| self.tokens.last().map(end)).unwrap_or(Position { line: 1, column: 1 })
    }

    pub(crate) fn found(&self) -> Found {
        Found::new(self.peek())
    }

    /// The error that `problem` is at the next token.
    pub(crate) fn error(&self, problem: PtxProblem) -> PtxError {
        PtxError { at: self.at(), problem }
    }

    pub(crate) fn unexpected(&self, expected: &'static str) -> PtxError {
        self.error(PtxProblem::Expected { expected, found: self.found() })
    }

    /// Moves over the next token if it is `text`, and says whether it was.
    pub(crate) fn accept(&mut self, text: &str) -> bool {
        let is = self.is(text);
        if is {
            self.advance();
        }
        is
    }

    /// Moves over `text`; `expected` names it in the error.
    pub(crate) fn expect(&mut self, text: &str, expected: &'static str) -> Result<(), PtxError> {
        if self.accept(text) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Moves over a token of one of the kinds.
    pub(crate) fn take(&mut self, kinds: &[TokenKind], expected: &'static str) -> Result<&'t Token<'a>, PtxError> {
        match self.peek() {
            Some(token) if kinds.contains(&token.kind) => {
                self.advance();
                Ok(token)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    pub(crate) fn identifier(&mut self, expected: &'static str) -> Result<&'t Token<'a>, PtxError> {
        self.take(&[TokenKind::Identifier], expected)
    }

    pub(crate) fn integer(&mut self, expected: &'static str) -> Result<u32, PtxError> {
        let at = self.at();
        let token = self.take(&[TokenKind::Integer], expected)?;
        let value = token.integer().and_then(|value| u32::try_from(value).ok());
        let problem = || PtxProblem::NumberTooLarge { text: excerpt(token.text), most: u32::MAX.into() };
        value.ok_or_else(|| PtxError { at, problem: problem() })
    }

    /// Moves over one token, or over a bracket with everything in it.
    pub(crate) fn skip_one(&mut self, expected: &'static str) -> Result<(), PtxError> {
        let mut open = Vec::new();
        loop {
            let Some(token) = self.peek() else {
                return Err(open.last().map_or_else(|| self.unexpected(expected), Bracket::unterminated));
            };
            match (Bracket::opened_by(token), open.last()) {
                (Some(bracket), _) => open.push(bracket),
                (None, Some(last)) if token.is(last.close) => drop(open.pop()),
                (None, last) if token.is(")") || token.is("]") || token.is("}") => {
                    return Err(self.unexpected(last.map_or(expected, |bracket| bracket.expected)));
                }
                (None, _) => {}
            }
            self.advance();
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// Moves behind the next `;` that is in no bracket.
    pub(crate) fn skip_statement(&mut self) -> Result<(), PtxError> {
        while !self.accept(";") {
            self.skip_one("`;`")?;
        }
        Ok(())
    }
}

/// A bracket that is open.
struct Bracket {
    open: &'static str,
    close: &'static str,
    expected: &'static str,
    at: Position,
}

impl Bracket {
    fn opened_by(token: &Token<'_>) -> Option<Self> {
        let pairs = [("{", "}", "`}`"), ("(", ")", "`)`"), ("[", "]", "`]`")];
        let (open, close, expected) = pairs.into_iter().find(|(open, ..)| token.is(open))?;
        Some(Self { open, close, expected, at: token.at })
    }

    fn unterminated(&self) -> PtxError {
        PtxError { at: self.at, problem: PtxProblem::UnterminatedBracket { open: self.open, close: self.close } }
    }
}
