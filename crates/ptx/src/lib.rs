//! PTX text: the entries of a module and the layout of their parameters.
//!
//! [`Module::parse`] reads the text that `cuModuleLoadData` is given, as far as a driver must understand it before it
//! generates code: the header, the entries with the place of each parameter in the parameter buffer, and what else the
//! module declares. Bodies are split into tokens and kept as a normal form ([`Entry::normal_form`]), so that a kernel
//! can be recognised whatever its layout on the page; what an instruction means is not looked at.
//!
//! [`ImageKind::of`] tells PTX from compiled images. [`lexer`] is public for whoever wants the instructions.
//!
//! Nothing here does I/O, and no text makes it panic.
//!
//! # Portability
//! A version or a target that a device does not have is no error here: the driver compares [`Module::version`] and
//! [`Module::target`] with the device.
//!
//! # Source
//! The language is that of NVIDIA's manual "Parallel Thread Execution ISA", chapters 4 (syntax), 5 (state spaces and
//! types), 7 (parameters) and 11 (directives).

#![forbid(unsafe_code)]

mod cursor;
mod declaration;
mod entry;
mod error;
mod header;
mod image;
pub mod lexer;
mod module;
mod normal;
mod param;
mod parser;

pub use declaration::{Declaration, DeclarationKind};
pub use entry::{Entry, LaunchDirective};
pub use error::{Found, PtxError, PtxProblem};
pub use image::ImageKind;
pub use lexer::Position;
pub use module::Module;
pub use param::{Param, ParamType, ScalarType};
