//! A function: code that is called.

use crate::body::Body;
use crate::entry::LaunchDirective;
use crate::lexer::Position;
use crate::operand::RegisterId;
use crate::param::Param;
use crate::types::ScalarType;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Who sees the name.
    pub linkage: Linkage,
    /// What it returns, in order.
    pub returns: Vec<Parameter>,
    /// What it takes, in order.
    pub params: Vec<Parameter>,
    /// `.noreturn`: it never comes back.
    pub noreturn: bool,
    /// Other directives between its parameters and its body.
    pub directives: Vec<LaunchDirective>,
    /// Its code; `None` if it is only declared: `vprintf` and what else the system has.
    pub body: Option<Body>,
    /// Where its name stands.
    pub at: Position,
}

/// A parameter or a returned value of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// In `.param`. Offsets are as in an entry; a function reads each by name, so they may be used or not.
    Memory(Param),
    /// In a register.
    Register {
        /// The register in the body of the function; a number without meaning if there is none.
        register: RegisterId,
        /// Its type.
        ty: ScalarType,
    },
}

impl Parameter {
    /// The register that it is in, if it is in one.
    #[must_use]
    pub fn register(&self) -> Option<RegisterId> {
        match self {
            Self::Memory(_) => None,
            Self::Register { register, .. } => Some(*register),
        }
    }
}

/// Who sees a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// This module alone.
    #[default]
    Internal,
    /// `.visible`: others too.
    Visible,
    /// `.weak`: others too, and theirs may take its place.
    Weak,
    /// `.extern`: it is elsewhere.
    Extern,
    /// `.common`: all of this name are one.
    Common,
}
