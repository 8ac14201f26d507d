//! What the lexer yields.

use std::fmt;

/// A place in the text, for messages.
///
/// # Units
/// Both count from 1; a column counts characters, a tab as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What sort of token it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name: an opcode, a label (`$L__BB0_2`), a register (`%r1`), the sink `_`.
    Identifier,
    /// A dot and a name, with its parts behind `::`: `.param`, `.u64`, `.shared::cta`. The suffixes of an opcode and
    /// the components of a register (`%tid.x`) are such tokens too.
    Directive,
    /// An integer: decimal, `0x…`, `0b…` or octal, perhaps with a `U` behind it.
    Integer,
    /// A floating-point number: decimal, or its bits as `0f…` or `0d…`. A version such as `9.0` is one too.
    Float,
    /// A string with its quotes.
    String,
    /// One of `, ; : ( ) [ ] { } @ ! + - * / % & | ^ ~ < > = ?` or of `:: << >> <= >= == != && ||`.
    Punctuation,
}

/// A token and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its sort.
    pub kind: TokenKind,
    /// Its text, exactly as written.
    pub text: &'a str,
    /// Its first character.
    pub at: Position,
}

impl Token<'_> {
    /// The value of an integer; `None` for every other token, and for one of more than 64 bits.
    #[must_use]
    pub fn integer(&self) -> Option<u64> {
        (self.kind == TokenKind::Integer).then(|| super::number::integer(self.text)).flatten()
    }

    /// Whether it is this punctuation, directive or name. A string is never equal, whatever it contains.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.kind != TokenKind::String && self.text == text
    }
}
