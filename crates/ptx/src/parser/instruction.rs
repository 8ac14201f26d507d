//! Instructions: from an opcode, its modifiers and its operands to an operation.

mod atomic;
mod call;
mod compare;
mod control;
mod convert;
mod fence;
mod float;
mod integer;
mod logic;
mod memory;
mod moves;
mod multimem;
mod sync;
mod unmodelled;
mod warp;

use super::site::Site;
use crate::error::{PtxError, PtxProblem, excerpt};
use crate::instruction::Operation;

pub(crate) use unmodelled::is_unmodelled;

/// Reads the operation of an instruction.
pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let operation = match site.modifiers.opcode.text {
        "add" | "sub" | "mul" | "mad" | "div" | "min" | "max" | "neg" | "abs" => arithmetic(site),
        "mul24" | "mad24" | "sad" | "rem" | "addc" | "subc" | "madc" | "dp4a" | "dp2a" | "bfind" | "bfe" | "szext" => {
            integer::parse(site)
        }
        "fma" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "testp" | "copysign" => {
            float::parse(site)
        }
        "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "popc" | "clz" | "brev" | "bfi"
        | "bmsk" | "fns" | "prmt" => logic::parse(site),
        "setp" | "set" | "selp" | "slct" => compare::parse(site),
        "cvt" | "cvta" | "isspacep" | "mapa" | "getctarank" => convert::parse(site),
        "mov" => moves::parse(site),
        "ld" | "ldu" | "st" | "prefetch" | "prefetchu" | "applypriority" | "discard" | "createpolicy" => {
            memory::parse(site)
        }
        "atom" | "red" => atomic::parse(site),
        "multimem" => multimem::parse(site),
        "call" => call::parse(site),
        "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" | "setmaxnreg" | "griddepcontrol" => {
            control::parse(site)
        }
        "bar" | "barrier" => sync::parse(site),
        "membar" | "fence" => fence::parse(site),
        "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => warp::parse(site),
        name => {
            let problem = PtxProblem::UnknownInstruction { name: excerpt(name) };
            return Err(PtxError { at: site.modifiers.at(), problem });
        }
    }?;
    site.modifiers.finish()?;
    Ok(operation)
}

/// What integers and floating-point numbers have in common by name.
fn arithmetic(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    if site.modifiers.has_float() { float::parse(site) } else { integer::parse(site) }
}
