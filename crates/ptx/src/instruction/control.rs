//! What decides which instruction comes next.

use std::sync::Arc;

use crate::operand::{FunctionId, InstructionId, LocalId, RegisterId, Sink, Source};

/// `bra`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where it goes on.
    pub target: InstructionId,
    /// `.uni`: all threads of the warp that are here go the same way.
    pub uniform: bool,
}

/// `brx.idx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTable {
    /// Which of the targets, a `U32`. What is past the end is undefined.
    pub index: RegisterId,
    /// The targets of `.branchtargets`.
    pub targets: Arc<[InstructionId]>,
    /// `.uni`: all threads of the warp that are here go the same way.
    pub uniform: bool,
}

/// `call`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is called.
    pub target: CallTarget,
    /// Where the returned values go, in order.
    pub returns: Vec<CallReturn>,
    /// The arguments, in order.
    pub arguments: Vec<CallArgument>,
    /// `.uni`: all threads of the warp that are here call the same.
    pub uniform: bool,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// This function. It may have no body here: `vprintf` and what else the system has.
    Direct(FunctionId),
    /// The function whose address the register holds, one of these if the text names them (`.calltargets`), any of
    /// the same parameters else (`.callprototype`).
    Indirect {
        /// The register.
        pointer: RegisterId,
        /// The functions that the text names.
        targets: Option<Arc<[FunctionId]>>,
    },
}

/// What a call gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallArgument {
    /// What lies in this variable in `.param`.
    Local(LocalId),
    /// This value, for a parameter in a register or of a scalar type.
    Value(Source),
}

/// What a call receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallReturn {
    /// Into this variable in `.param`.
    Local(LocalId),
    /// Into this register.
    Register(Sink),
}
