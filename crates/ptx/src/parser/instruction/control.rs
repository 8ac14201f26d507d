//! What ends, waits or counts. Branches are read with the body, which knows the labels.

use super::super::site::Site;
use crate::error::{PtxError, PtxProblem};
use crate::instruction::Operation;
use crate::types::ScalarType;

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "ret" => {
            site.modifiers.flag(".uni");
            bare(site, Operation::Return)
        }
        "exit" => bare(site, Operation::Exit),
        "trap" => bare(site, Operation::Trap),
        "brkpt" => bare(site, Operation::Breakpoint),
        "griddepcontrol" => {
            let forms = [(".wait", true), (".launch_dependents", false)];
            let wait = site.modifiers.need(&forms, "`.wait` or `.launch_dependents`")?;
            bare(site, Operation::GridDependency { wait })
        }
        "nanosleep" => {
            site.modifiers.need(&[(".u32", ())], "`.u32`")?;
            let [duration] = site.take()?;
            Ok(Operation::Nanosleep { duration: site.value(&duration, ScalarType::U32)? })
        }
        "pmevent" => event(site),
        _ => set_registers(site),
    }
}

fn bare(site: &mut Site<'_, '_, '_, '_>, operation: Operation) -> Result<Operation, PtxError> {
    let [] = site.take()?;
    Ok(operation)
}

/// A constant of at most `most`.
fn small(site: &mut Site<'_, '_, '_, '_>, most: u64) -> Result<u64, PtxError> {
    let [operand] = site.take()?;
    let value = site.integer(&operand)?;
    if value <= most {
        Ok(value)
    } else {
        site.error(operand.at, PtxProblem::NumberTooLarge { text: value.to_string(), most })
    }
}

fn event(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let mask = if site.modifiers.flag(".mask") { small(site, u16::MAX.into())? } else { 1 << small(site, 15)? };
    Ok(Operation::PerformanceEvent { mask: u16::try_from(mask).unwrap_or(u16::MAX) })
}

fn set_registers(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    site.modifiers.need(&[(".inc", ()), (".dec", ())], "`.inc` or `.dec`")?;
    for part in [".sync", ".aligned", ".u32"] {
        if !site.modifiers.flag(part) {
            return Err(site.modifiers.missing("`.sync.aligned.u32`"));
        }
    }
    let registers = small(site, 256)?;
    Ok(Operation::SetMaxRegisters { registers: u32::try_from(registers).unwrap_or(u32::MAX) })
}
