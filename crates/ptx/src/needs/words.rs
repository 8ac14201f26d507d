//! An instruction in words, and patterns of them.

use crate::lexer::{Position, Token, TokenKind};
use crate::parser::{is_special, is_unmodelled};
use crate::types::ScalarType;

/// An instruction.
pub(super) struct Instruction<'a> {
    pub(super) words: Words<'a>,
    pub(super) at: Position,
}

/// An instruction as the rules see it.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Words<'a> {
    opcode: &'a str,
    /// Its modifiers, with their dots.
    modifiers: Vec<&'a str>,
    /// The special register that it reads, if any.
    special: Option<&'a str>,
    operands: usize,
}

impl<'a> Instruction<'a> {
    /// The instruction that a statement is, if it is one.
    pub(super) fn of(statement: &[Token<'a>]) -> Option<Self> {
        let guard = match statement {
            [at, not, ..] if at.is("@") && not.is("!") => 3,
            [at, ..] if at.is("@") => 2,
            _ => 0,
        };
        let (opcode, rest) = statement.get(guard..)?.split_first()?;
        if opcode.kind != TokenKind::Identifier {
            return None;
        }
        let modifiers = rest.iter().take_while(|token| token.kind == TokenKind::Directive).map(|token| token.text);
        let modifiers: Vec<&str> = modifiers.collect();
        let operands = &rest[modifiers.len()..];
        let special = operands.iter().find(|token| is_special(token.text)).map(|token| token.text);
        let words = Words { opcode: opcode.text, modifiers, special, operands: count(operands) };
        Some(Self { words, at: opcode.at })
    }
}

/// How many operands are listed.
fn count(operands: &[Token<'_>]) -> usize {
    let (mut depth, mut commas) = (0u32, 0);
    for token in operands {
        match token.text {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth = depth.saturating_sub(1),
            "," if depth == 0 => commas += 1,
            _ => {}
        }
    }
    commas + 1
}

impl Words<'_> {
    /// Whether it is an instruction of which nothing but its name is known.
    pub(super) fn is_unmodelled(&self) -> bool {
        is_unmodelled(self.opcode, self.modifiers.iter().copied())
    }

    /// How often a pattern fits. It is the opcode or `*`, then words that must all be there: `a|b` is either of two, `!a`
    /// none of that name, `=.a.b` all types in their order, `#4` so many operands, `%name` a special register, and `+a`
    /// fits as often as the modifier is there.
    pub(super) fn fit(&self, pattern: &str) -> usize {
        let mut words = pattern.split(' ');
        let opcodes = words.next().unwrap_or_default();
        if opcodes != "*" && !either(opcodes, |it| it == self.opcode) {
            return 0;
        }
        words.map(|word| self.times(word)).min().unwrap_or(1)
    }

    /// The name that a rule gives, with what this instruction has in place of `{op}`, `{first}` (modifier), `{types}`,
    /// `{space}` and `{special}`.
    pub(super) fn put_into(&self, name: &str) -> String {
        let spaces = [".global", ".shared"];
        let space = spaces.into_iter().find(|it| self.modifiers.contains(it)).unwrap_or(" with generic state space");
        let name = name.replace("{op}", self.opcode).replace("{types}", &self.types());
        let name = name.replace("{first}", self.modifiers.first().copied().unwrap_or_default());
        name.replace("{space}", space).replace("{special}", self.special.unwrap_or_default())
    }

    /// Its types, in their order.
    fn types(&self) -> String {
        self.modifiers.iter().filter(|word| ScalarType::from_directive(word).is_some()).copied().collect()
    }

    fn times(&self, word: &str) -> usize {
        match word.strip_prefix('+') {
            Some(modifier) => self.modifiers.iter().filter(|it| **it == modifier).count(),
            None => usize::from(self.has(word)),
        }
    }

    fn has(&self, word: &str) -> bool {
        match word.as_bytes()[0] {
            b'!' => !self.has(&word[1..]),
            b'=' => {
                let types = self.types();
                either(&word[1..], |it| it == types)
            }
            b'#' => word[1..] == self.operands.to_string(),
            b'%' => self.special.is_some_and(|special| either(word, |it| it == special)),
            _ => either(word, |it| self.modifiers.contains(&it)),
        }
    }
}

fn either(words: &str, is: impl Fn(&str) -> bool) -> bool {
    words.split('|').any(is)
}
