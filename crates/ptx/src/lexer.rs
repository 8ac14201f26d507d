//! PTX text to tokens.
//!
//! A token borrows its text, so a parser of instructions can work on the tokens without copying. White space and
//! comments are dropped; everything else of the text is in exactly one token.

mod number;
mod token;

use crate::error::{PtxError, PtxProblem, excerpt};

pub use token::{Position, Token, TokenKind};

/// Splits `text` into tokens. A NUL ends the text, as it does for `cuModuleLoadData`.
///
/// # Errors
/// [`PtxProblem::UnexpectedCharacter`], [`PtxProblem::InvalidNumber`], [`PtxProblem::UnterminatedComment`] and
/// [`PtxProblem::UnterminatedString`], each at the place where the token starts.
pub fn tokenize(text: &str) -> Result<Vec<Token<'_>>, PtxError> {
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next_token()? {
        tokens.push(token);
    }
    Ok(tokens)
}

/// The tokens up to the one behind `.address_size`, or all if there is none.
pub(crate) fn header_tokens(text: &str) -> Result<Vec<Token<'_>>, PtxError> {
    let mut lexer = Lexer::new(text);
    let mut tokens: Vec<Token<'_>> = Vec::new();
    while let Some(token) = lexer.next_token()? {
        let is_last = tokens.last().is_some_and(|before| before.is(".address_size"));
        tokens.push(token);
        if is_last {
            break;
        }
    }
    Ok(tokens)
}

/// A place in the text that moves on by characters.
struct Lexer<'a> {
    /// What is still to be read.
    rest: &'a str,
    at: Position,
    /// Whether the previous token is a name or directive. No number can follow one, so `.16` is a suffix then, as in
    /// `tcgen05.ld.16x64b`. White space plays no part: it may stand before a suffix, and does in a normal form.
    after_name: bool,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        let rest = text.split('\0').next().unwrap_or_default();
        let at = Position { line: 1, column: 1 };
        Self { rest, at, after_name: false }
    }

    fn next_token(&mut self) -> Result<Option<Token<'a>>, PtxError> {
        self.skip_blank()?;
        let at = self.at;
        let mut coming = self.rest.chars();
        let Some(first) = coming.next() else { return Ok(None) };
        let second = coming.next().unwrap_or(' ');
        let (kind, length) = match first {
            '.' if is_symbol(second) && (self.after_name || !second.is_ascii_digit()) => {
                (TokenKind::Directive, 1 + qualified_length(&self.rest[1..]))
            }
            '.' if second.is_ascii_digit() => self.number(at)?,
            '0'..='9' => self.number(at)?,
            '%' if is_symbol(second) => (TokenKind::Identifier, 1 + symbol_length(&self.rest[1..])),
            '_' | '$' | 'a'..='z' | 'A'..='Z' => (TokenKind::Identifier, symbol_length(self.rest)),
            '"' => (TokenKind::String, self.string_length(at)?),
            _ => (TokenKind::Punctuation, self.punctuation_length(first, second, at)?),
        };
        let text = self.advance(length);
        self.after_name = matches!(kind, TokenKind::Identifier | TokenKind::Directive);
        Ok(Some(Token { kind, text, at }))
    }

    /// Moves over white space and comments.
    fn skip_blank(&mut self) -> Result<(), PtxError> {
        loop {
            let length = self.blank_length()?;
            if length == 0 {
                return Ok(());
            }
            self.advance(length);
        }
    }

    /// The length of the white space or of the one comment that comes next.
    fn blank_length(&self) -> Result<usize, PtxError> {
        if self.rest.starts_with("//") {
            Ok(self.rest.find('\n').unwrap_or(self.rest.len()))
        } else if self.rest.starts_with("/*") {
            self.block_comment_length()
        } else {
            let next = self.rest.trim_start_matches(|character: char| character.is_ascii_whitespace());
            Ok(self.rest.len() - next.len())
        }
    }

    fn block_comment_length(&self) -> Result<usize, PtxError> {
        let unterminated = || PtxError { at: self.at, problem: PtxProblem::UnterminatedComment };
        self.rest[2..].find("*/").map(|end| end + 4).ok_or_else(unterminated)
    }

    fn string_length(&self, at: Position) -> Result<usize, PtxError> {
        let mut escaped = false;
        for (offset, character) in self.rest.char_indices().skip(1) {
            match character {
                '\n' => break,
                '"' if !escaped => return Ok(offset + 1),
                _ => escaped = character == '\\' && !escaped,
            }
        }
        Err(PtxError { at, problem: PtxProblem::UnterminatedString })
    }

    fn number(&self, at: Position) -> Result<(TokenKind, usize), PtxError> {
        number::scan(self.rest)
            .map_err(|text| PtxError { at, problem: PtxProblem::InvalidNumber { text: excerpt(text) } })
    }

    fn punctuation_length(&self, first: char, second: char, at: Position) -> Result<usize, PtxError> {
        const PAIRS: [&str; 9] = ["::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];
        const SINGLES: &str = ",;:()[]{}@!+-*/%&|^~<>=?";
        let pair = PAIRS.iter().any(|pair| pair.starts_with(first) && pair.ends_with(second));
        match first {
            _ if pair => Ok(2),
            _ if SINGLES.contains(first) => Ok(1),
            _ => Err(PtxError { at, problem: PtxProblem::UnexpectedCharacter { character: first } }),
        }
    }

    /// Takes `length` bytes off the text. Every caller measured them on it, so they end between two characters.
    fn advance(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        match taken.rfind('\n') {
            None => self.at.column = self.at.column.saturating_add(count(taken, |_| true)),
            Some(last) => {
                self.at.line = self.at.line.saturating_add(count(taken, |character| character == '\n'));
                self.at.column = count(&taken[last..], |_| true);
            }
        }
        taken
    }
}

fn count(text: &str, wanted: impl Fn(char) -> bool) -> u32 {
    u32::try_from(text.chars().filter(|character| wanted(*character)).count()).unwrap_or(u32::MAX)
}

fn is_symbol(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$')
}

/// The length of the letters, digits, `_` and `$` at the start of `text`.
fn symbol_length(text: &str) -> usize {
    text.find(|character| !is_symbol(character)).unwrap_or(text.len())
}

/// The length of a name such as `shared::cta` or `scale_vec::1X` at the start of `text`.
fn qualified_length(text: &str) -> usize {
    let mut length = symbol_length(text);
    while let Some(next) = text[length..].strip_prefix("::") {
        match symbol_length(next) {
            0 => break,
            more => length += 2 + more,
        }
    }
    length
}
