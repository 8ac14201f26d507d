//! PTX text: the entries of a module and the layout of their parameters.
//!
//! [`Module::parse`] reads the text that `cuModuleLoadData` is given, as far as a driver must understand it before it
//! generates code: the header, the entries with the place of each parameter in the parameter buffer, and what else the
//! module declares. Bodies are split into tokens and kept as a normal form ([`Entry::normal_form`]), so that a kernel
//! can be recognised whatever its layout on the page; what an instruction means is not looked at.
//!
//! [`analysis`] says what can be known of code without running it. [`ImageKind::of`] tells PTX from compiled images. [`lexer`] is public for whoever wants the instructions.
//!
//! What runs code works on these types:
//!
//! - [`Body`] is the code of an [`Entry`] or a [`Function`]: registers by number ([`RegisterId`]), variables of one call
//!   ([`LocalId`]), and a flat list of [`Instruction`]s in which a branch names the number of its target.
//! - An [`Operation`] is one variant for each shape of instruction, with typed modifiers. [`Instruction::reads`] and
//!   [`Instruction::writes`] give the registers of any of them.
//! - A [`Source`] is a register or a constant that already has the width of the instruction; special registers and
//!   addresses of symbols are read by [`Operation::Move`] alone.
//! - A [`Variable`] has a place of its own; shared variables of a function are among those of the module.
//! - What the language has and nothing here gives a meaning is [`Operation::Unmodelled`], with its name and place.
//!
//! Nothing here does I/O, and no text makes it panic.
//!
//! # Portability
//! What a text uses that its own version or target does not have is an error of [`Module::parse`]. A version or a target
//! that a device does not have is none: the driver asks [`Module::check_header`] and compares [`Module::target`] with the
//! device. [`PtxError::log`] is what it writes into its error log.
//!
//! # Source
//! The language is that of NVIDIA's manual "Parallel Thread Execution ISA", chapters 4 (syntax), 5 (state spaces and
//! types), 7 (parameters) and 11 (directives).

#![forbid(unsafe_code)]

pub mod analysis;
mod body;
mod cursor;
mod debug;
mod entry;
mod error;
mod function;
mod header;
mod image;
pub mod instruction;
pub mod lexer;
mod log;
mod module;
mod needs;
mod normal;
mod operand;
mod param;
mod parser;
mod special;
mod statements;
mod target;
mod types;
mod variable;

pub use body::{Body, Label, LocalVariable, Register, SourceLocation, SourcePlace};
pub use entry::{Entry, LaunchDirective};
pub use error::{Found, PtxError, PtxProblem};
pub use function::{Function, Linkage, Parameter};
pub use image::ImageKind;
pub use instruction::{Instruction, Operation, StateSpace};
pub use lexer::Position;
pub use module::Module;
pub use needs::{Need, Unmet};
pub use operand::{
    Address, AddressBase, EntryId, FunctionId, Guard, Immediate, InstructionId, LocalId, LocationId, MoveSource,
    PredicateSource, RegisterId, Sink, Source, Symbol, VariableId,
};
pub use param::{Param, ParamType};
pub use special::{Axis, SpecialRegister};
pub use types::{BitType, FloatType, IntegerType, ScalarType, TypeClass};
pub use variable::{Initial, InitialAddress, InitialRun, Variable};
