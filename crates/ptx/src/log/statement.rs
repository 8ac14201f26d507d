//! The statement that a place of a text is in.

use crate::lexer::{Position, Token, TokenKind};
use crate::statements::statements;
use crate::types::ScalarType;

/// The tokens of a statement, and the one that an error is about.
pub(super) struct Statement<'t, 'a> {
    tokens: &'t [Token<'a>],
    /// The index of the token.
    at: usize,
}

/// Opcodes that are named with a modifier.
const LONG_NAMES: [(&[&str], &[&str]); 8] = [
    (&["mul", "mad", "mul24", "mad24", "madc"], &[".lo", ".hi", ".wide"]),
    (&["cvta"], &[".to"]),
    (&["bar", "barrier"], &[".red", ".arrive", ".warp"]),
    (&["shf"], &[".l", ".r"]),
    (&["brx"], &[".idx"]),
    (&["multimem"], &[".ld_reduce", ".st", ".red"]),
    (&["setmaxnreg"], &[".inc", ".dec"]),
    (&["cp"], &[".async"]),
];

impl<'t, 'a> Statement<'t, 'a> {
    /// The statement around a token.
    pub(super) fn around(tokens: &'t [Token<'a>], position: Position) -> Option<Self> {
        let holds = |statement: &&[Token<'_>]| statement.iter().any(|token| token.at == position);
        let tokens = statements(tokens).find(holds)?;
        let at = tokens.iter().position(|token| token.at == position)?;
        Some(Self { tokens, at })
    }

    /// The text with blanks in place of the statement; `None` for one that others are part of.
    pub(super) fn left_out_of(&self, text: &str) -> Option<String> {
        let last = self.tokens.last()?;
        let is_whole = matches!(last.text, ";" | ":") || matches!(self.first(), ".loc" | ".file");
        if !is_whole {
            return None;
        }
        // Tokens are parts of the text.
        let place = |token: &Token<'_>| token.text.as_ptr().addr() - text.as_ptr().addr();
        let (start, end) = (place(&self.tokens[0]), place(last) + last.text.len());
        let blank = |character| if character == '\n' { '\n' } else { ' ' };
        let blanks: String = text[start..end].chars().map(blank).collect();
        Some([&text[..start], &blanks, &text[end..]].concat())
    }

    /// The first word.
    pub(super) fn first(&self) -> &'a str {
        self.tokens[0].text
    }

    /// Whether it has this word before the place.
    pub(super) fn has(&self, text: &str) -> bool {
        self.tokens[..self.at].iter().any(|token| token.is(text))
    }

    /// Whether it has this word at all.
    pub(super) fn contains(&self, text: &str) -> bool {
        self.tokens.iter().take_while(|token| !token.is(";")).any(|token| token.is(text))
    }

    /// A modifier that looks like a type and is none.
    pub(super) fn almost_type(&self) -> Option<&'a str> {
        let looks = |text: &str| {
            let width = text.strip_prefix(['u', 's', 'b', 'f']);
            width.is_some_and(|width| !width.is_empty() && width.bytes().all(|digit| digit.is_ascii_digit()))
        };
        let modifiers = self.tokens[self.at..].iter().skip(1).take_while(|token| token.kind == TokenKind::Directive);
        let mut wrong = modifiers.map(|token| token.text).filter(|text| ScalarType::from_directive(text).is_none());
        wrong.find(|text| looks(&text[1..]))
    }

    /// The word behind this one.
    pub(super) fn behind(&self, text: &str) -> Option<&'a str> {
        let index = self.tokens.iter().position(|token| token.is(text))?;
        self.tokens.get(index + 1).map(|token| token.text)
    }

    /// The word so many before the place, or behind it.
    pub(super) fn near(&self, distance: isize) -> &'a str {
        let index = self.at.checked_add_signed(distance);
        index.and_then(|index| self.tokens.get(index)).map_or("", |token| token.text)
    }

    /// How an instruction is called in messages; `None` for what is no instruction.
    pub(super) fn instruction(&self) -> Option<String> {
        let opcode = self.opcode()?;
        let name = self.tokens[opcode].text;
        let part = self.tokens.get(opcode + 1).map_or("", |token| token.text);
        let is_long = LONG_NAMES.iter().any(|(names, parts)| names.contains(&name) && parts.contains(&part));
        Some(if is_long { format!("{name}{part}") } else { name.to_owned() })
    }

    /// Whether the place is what the instruction depends on, behind `@`.
    pub(super) fn is_guard(&self) -> bool {
        self.opcode().is_some_and(|opcode| self.at < opcode)
    }

    /// Whether the place is between `open` and its end.
    pub(super) fn is_inside(&self, open: &str, close: &str) -> bool {
        let before = &self.tokens[..self.at];
        let count = |text| before.iter().filter(|token| token.is(text)).count();
        count(open) > count(close)
    }

    fn opcode(&self) -> Option<usize> {
        let index = match (self.first(), self.tokens.get(1).map(|token| token.text)) {
            ("@", Some("!")) => 3,
            ("@", _) => 2,
            _ => 0,
        };
        self.tokens.get(index).filter(|token| token.kind == TokenKind::Identifier).map(|_| index)
    }
}
