//! Barriers.

use super::super::site::Site;
use super::super::syntax::{Form, Operand};
use crate::error::{PtxError, PtxProblem};
use crate::instruction::{Barrier, BarrierOp, ClusterBarrier, Operation};
use crate::types::ScalarType;

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    if site.modifiers.opcode.text == "bar" {
        if site.modifiers.flag(".warp") {
            site.modifiers.need(&[(".sync", ())], "`.sync`")?;
            let [mask] = site.take()?;
            return Ok(Operation::WarpBarrier { mask: site.value(&mask, ScalarType::U32)? });
        }
    } else if site.modifiers.flag(".cluster") {
        return cluster(site);
    }
    site.modifiers.flag(".cta");
    block(site)
}

fn cluster(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let wait = site.modifiers.need(&[(".wait", true), (".arrive", false)], "`.arrive` or `.wait`")?;
    let relaxed = !wait && site.modifiers.flag(".relaxed");
    if !relaxed {
        site.modifiers.flag(if wait { ".acquire" } else { ".release" });
    }
    let aligned = site.modifiers.flag(".aligned");
    let [] = site.take()?;
    Ok(Operation::ClusterBarrier(ClusterBarrier { wait, relaxed, aligned }))
}

/// The operations by name.
#[derive(Clone, Copy)]
enum Kind {
    Sync,
    Arrive,
    Reduce,
}

fn block(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let aligned = site.modifiers.flag(".aligned") || site.modifiers.opcode.text == "bar";
    let forms = [(".sync", Kind::Sync), (".arrive", Kind::Arrive), (".red", Kind::Reduce)];
    match site.modifiers.need(&forms, "`.sync`, `.arrive` or `.red`")? {
        Kind::Sync => {
            let threads = site.take_beyond(1);
            let [barrier] = site.take()?;
            finish(site, BarrierOp::Sync, aligned, &barrier, threads)
        }
        Kind::Arrive => {
            let [barrier, threads] = site.take()?;
            finish(site, BarrierOp::Arrive, aligned, &barrier, Some(threads))
        }
        Kind::Reduce => reduce(site, aligned),
    }
}

fn reduce(site: &mut Site<'_, '_, '_, '_>, aligned: bool) -> Result<Operation, PtxError> {
    let reductions = [(".popc", None), (".and", Some(true)), (".or", Some(false))];
    let reduction = site.modifiers.need(&reductions, "`.popc`, `.and` or `.or`")?;
    let ty = if reduction.is_none() { ScalarType::U32 } else { ScalarType::Pred };
    site.modifiers.ty(|found| Some(found).filter(|found| *found == ty))?;
    let predicate = match site.take_beyond(2) {
        Some(predicate) => site.predicate(&predicate)?,
        None => return Err(site.modifiers.missing("a destination, a barrier and a predicate")),
    };
    let threads = site.take_beyond(2);
    let [d, barrier] = site.take()?;
    let destination = site.destination(&d, ty)?;
    let op = match reduction {
        None => BarrierOp::CountTrue { destination, predicate },
        Some(true) => BarrierOp::AllTrue { destination, predicate },
        Some(false) => BarrierOp::AnyTrue { destination, predicate },
    };
    finish(site, op, aligned, &barrier, threads)
}

fn finish<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    op: BarrierOp,
    aligned: bool,
    barrier: &Operand<'a>,
    threads: Option<Operand<'a>>,
) -> Result<Operation, PtxError> {
    /// The highest number of a barrier.
    const MOST: u64 = 15;
    const WARP: u64 = 32;
    if let Form::Constant(_) = barrier.form
        && site.integer(barrier)? > MOST
    {
        let problem = PtxProblem::NumberTooLarge { text: site.integer(barrier)?.to_string(), most: MOST };
        return site.error(barrier.at, problem);
    }
    if let Some(threads) = &threads
        && let Form::Constant(_) = threads.form
        && !site.integer(threads)?.is_multiple_of(WARP)
    {
        return site.unexpected(threads, "a multiple of 32 threads");
    }
    let barrier = site.value(barrier, ScalarType::U32)?;
    let threads = threads.map(|threads| site.value(&threads, ScalarType::U32)).transpose()?;
    Ok(Operation::Barrier(Barrier { op, aligned, barrier, threads }))
}
