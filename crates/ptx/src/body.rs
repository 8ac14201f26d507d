//! The code of an entry or a function.

use crate::instruction::{Instruction, StateSpace};
use crate::lexer::Position;
use crate::operand::{InstructionId, RegisterId};
use crate::types::ScalarType;

/// Code: a list of instructions with what they name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The registers that the instructions use, and no others: a family `%r<100>` brings in those that are named.
    pub registers: Vec<Register>,
    /// The registers that hold parameters of a function when it starts.
    pub given: Vec<RegisterId>,
    /// The variables that every call has anew.
    pub locals: Vec<LocalVariable>,
    /// The labels, in the order of the text.
    pub labels: Vec<Label>,
    /// What `.loc` says, each once for a run of instructions.
    pub locations: Vec<SourceLocation>,
    /// The instructions. Past the last one is a `ret`.
    pub instructions: Vec<Instruction>,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name, with the component behind it if it is one of a vector: `%r1`, `%v.x`.
    pub name: String,
    /// The type that it is declared with.
    pub ty: ScalarType,
}

/// A variable in `.local` or `.param` that every call has anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// Its name. Two in different braces may have the same.
    pub name: String,
    /// `Local` or `ParamFunction`.
    pub space: StateSpace,
    /// How large it is.
    ///
    /// # Units
    /// Bytes.
    pub size: u64,
    /// What its address is a multiple of.
    ///
    /// # Units
    /// Bytes.
    pub align: u32,
    /// Where its name stands.
    pub at: Position,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name. Two in different braces may have the same.
    pub name: String,
    /// The instruction behind it.
    pub target: InstructionId,
}

/// A place in the source that the PTX was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The place.
    pub place: SourcePlace,
    /// Where the function that it is in was put in, if it was.
    pub inlined_at: Option<SourcePlace>,
}

/// A file, a line and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The number of the file: [`Module::file`](crate::Module::file) has its name.
    pub file: u32,
    /// The line, from 1; 0 where the compiler knows none.
    pub line: u32,
    /// The column, from 1; 0 where the compiler knows none.
    pub column: u32,
}
