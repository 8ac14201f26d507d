//! What can be wrong with PTX text.

use std::fmt;

use crate::lexer::{Position, Token};
use crate::needs::Unmet;

/// A problem and its place, printed in the manner of ptxas: `line 12; error: expected `;`, found `}` (column 5)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}; error: {problem} (column {})", at.line, at.column)]
pub struct PtxError {
    /// Where the text stops making sense. For something that is never closed: where it opens.
    pub at: Position,
    /// What is wrong there.
    pub problem: PtxProblem,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PtxProblem {
    /// A character that starts no token.
    #[error("unexpected character {character:?}")]
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// A word that starts with a digit and is no number.
    #[error("`{text}` is not a number")]
    InvalidNumber {
        /// The word.
        text: String,
    },
    /// A number that does not fit where it stands.
    #[error("`{text}` is too large, the most is {most} here")]
    NumberTooLarge {
        /// The number as written.
        text: String,
        /// The largest that fits.
        most: u64,
    },
    /// A `/*` without `*/`.
    #[error("unterminated comment: expected `*/` before the end of the text")]
    UnterminatedComment,
    /// A string without its closing quote on the same line.
    #[error("unterminated string: expected `\"` before the end of the line")]
    UnterminatedString,
    /// A bracket of any kind that is never closed.
    #[error("unterminated `{open}`: expected `{close}` before the end of the text")]
    UnterminatedBracket {
        /// The bracket.
        open: &'static str,
        /// What would close it.
        close: &'static str,
    },
    /// Anything else than what the grammar has here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What could stand here, in words or in backquotes.
        expected: &'static str,
        /// What does.
        found: Found,
    },
    /// The text does not begin with `.version`, `.target` and `.address_size`, in this order.
    #[error("missing `{directive}` directive: expected it before {found}")]
    MissingHeader {
        /// The directive that should come here.
        directive: &'static str,
        /// What does.
        found: Found,
    },
    /// `.version` without a number such as `8.4`.
    #[error("expected a version such as `8.4`, found {found}")]
    InvalidVersion {
        /// What stands there.
        found: Found,
    },
    /// A later version than the driver knows.
    #[error("version {}.{} is not known, the newest is {}.{}", version.0, version.1, newest.0, newest.1)]
    UnsupportedVersion {
        /// What is written.
        version: (u8, u8),
        /// What is known.
        newest: (u8, u8),
    },
    /// An architecture that there is not.
    #[error("there is no target `{name}`")]
    UnknownTarget {
        /// Its name.
        name: String,
    },
    /// An architecture that came with a later version of the language than the text is written in.
    #[error("target `{name}` needs version {}.{}, and this is {}.{}", first.0, first.1, version.0, version.1)]
    TargetNeedsVersion {
        /// The architecture.
        name: String,
        /// The version that is written.
        version: (u8, u8),
        /// The first that has it.
        first: (u8, u8),
    },
    /// An architecture above that of the device.
    #[error("target `{name}` is above sm_{device}, which the device has")]
    TargetAbove {
        /// The architecture.
        name: String,
        /// The number of that of the device.
        device: u32,
    },
    /// An architecture with a letter, whose code runs on no other one, or on no other family.
    #[error("target `{name}` is for no other architecture, and the device has sm_{device}")]
    TargetOfOthers {
        /// The architecture.
        name: String,
        /// The number of that of the device.
        device: u32,
    },
    /// Parts of the language that the version or the target of the text does not have.
    #[error("version {}.{} for {target}: {}", version.0, version.1, unmet.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Unmet {
        /// Each of them, and what it needs.
        unmet: Vec<Unmet>,
        /// The version that is written.
        version: (u8, u8),
        /// The architecture that is written.
        target: String,
    },
    /// `.address_size 32`: no 64-bit driver loads such a module. Compile it for 64-bit addresses.
    #[error("32-bit addresses are not supported: expected `.address_size 64`")]
    AddressSize32,
    /// Two entries of one name.
    #[error("duplicate entry `{name}`: it is already defined on line {}, column {}", first.line, first.column)]
    DuplicateEntry {
        /// The name.
        name: String,
        /// The name at the first definition.
        first: Position,
    },
    /// Two parameters of one entry with one name.
    #[error("duplicate parameter `{name}`")]
    DuplicateParameter {
        /// The name.
        name: String,
    },
    /// A type that no entry can take.
    #[error("unknown parameter type: expected a fundamental type such as `.u64`, found {found}")]
    UnknownParameterType {
        /// What stands in its place.
        found: Found,
    },
    /// An `.align` of something other than a power of two.
    #[error("alignment {align} is not a power of two")]
    InvalidAlignment {
        /// The number given.
        align: u32,
    },
    /// An opcode that the language does not have.
    #[error("unknown instruction `{name}`")]
    UnknownInstruction {
        /// The opcode.
        name: String,
    },
    /// A modifier that the instruction does not have, or has not beside its others.
    #[error("`{instruction}` takes no modifier `{modifier}` here")]
    UnknownModifier {
        /// The opcode.
        instruction: String,
        /// The modifier.
        modifier: String,
    },
    /// An instruction without a modifier that it needs.
    #[error("`{instruction}` needs {expected}")]
    MissingModifier {
        /// The opcode.
        instruction: String,
        /// What it needs, in words or in backquotes.
        expected: &'static str,
    },
    /// More or fewer operands than the instruction has.
    #[error("`{instruction}` takes {expected} operands, found {found}")]
    OperandCount {
        /// The opcode.
        instruction: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An order in a space that nobody else sees.
    #[error("`{}` does not go with `{space}`", modifiers.join("` and `"))]
    OrderOfSpace {
        /// What says the order.
        modifiers: Vec<&'static str>,
        /// The space.
        space: &'static str,
    },
    /// An operand of another sort than the instruction takes.
    #[error("expected {expected}, found {found}")]
    UnexpectedOperand {
        /// What could stand here.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A register whose type is not what the instruction works on.
    #[error("`{register}` is declared `{declared}`, which does not fit `{wanted}`")]
    TypeMismatch {
        /// Its name.
        register: String,
        /// Its type.
        declared: &'static str,
        /// What would fit.
        wanted: &'static str,
    },
    /// A constant that is no value of the type that the instruction works on.
    #[error("this constant does not fit `{wanted}`")]
    ConstantMismatch {
        /// The type.
        wanted: &'static str,
    },
    /// A name that is not declared before it is used, or a label that is nowhere in reach.
    #[error("unknown symbol `{name}`")]
    UnknownSymbol {
        /// The name.
        name: String,
    },
    /// A name that is declared twice in the same braces.
    #[error("duplicate definition of `{name}`: it is already defined on line {}, column {}", first.line, first.column)]
    DuplicateName {
        /// The name.
        name: String,
        /// The first definition.
        first: Position,
    },
    /// Two declarations of a function that do not agree.
    #[error("`{name}` is declared otherwise on line {}, column {}", first.line, first.column)]
    PrototypeMismatch {
        /// The name of the function.
        name: String,
        /// The first declaration.
        first: Position,
    },
    /// A call with other arguments or returned values than the function has.
    #[error("`{function}` {direction} {expected} values, found {found}")]
    CallCount {
        /// The name of the function.
        function: String,
        /// `takes` or `returns`.
        direction: &'static str,
        /// How many it has.
        expected: usize,
        /// How many the call has.
        found: usize,
    },
    /// An operator in a constant that has no result on these values.
    #[error("`{operator}` has no result on these values")]
    InvalidExpression {
        /// The operator.
        operator: &'static str,
    },
    /// Brackets or braces in each other beyond any use.
    #[error("nested more than {most} deep")]
    TooDeep {
        /// How deep they may be.
        most: u32,
    },
    /// A variable that no memory is large enough for.
    #[error("this variable is too large: more than {most} bytes")]
    VariableTooLarge {
        /// The most.
        most: u64,
    },
    /// An initial value that its variable cannot have.
    #[error("this initial value {reason}")]
    InvalidInitial {
        /// Why.
        reason: &'static str,
    },
    /// More parameters than any device takes.
    #[error("the parameters end at byte {bytes}, the most is {most}")]
    ParametersTooLarge {
        /// Where this parameter ends.
        bytes: u64,
        /// Where it may end.
        most: u32,
    },
}

impl PtxProblem {
    /// What stands where the grammar has something else.
    pub(crate) fn found(&self) -> Option<&Found> {
        match self {
            Self::Expected { found, .. } | Self::UnknownParameterType { found } => Some(found),
            _ => None,
        }
    }
}

/// What the text has in place of what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This token; a long one is cut off with `…`.
    Token(String),
    /// Nothing more.
    End,
}

impl Found {
    pub(crate) fn new(token: Option<&Token<'_>>) -> Self {
        token.map_or(Self::End, |token| Self::Token(excerpt(token.text)))
    }
}

/// As much of a token as a message has room for.
pub(crate) fn excerpt(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(text) => write!(f, "`{text}`"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}
