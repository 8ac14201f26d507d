//! What the threads of a warp do together.

use super::super::fit::Fit;
use super::super::site::Site;
use crate::error::PtxError;
use crate::instruction::{Match, Operation, Reduction, Shuffle, ShuffleMode, Vote, VoteMode, WarpReduce};
use crate::operand::{Sink, Source};
use crate::types::{BitType, IntegerType, ScalarType};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    match site.modifiers.opcode.text {
        "shfl" => shuffle(site),
        "vote" => vote(site),
        "match" => matched(site),
        "redux" => reduce(site),
        "activemask" => {
            b32(site)?;
            let [d] = site.take()?;
            Ok(Operation::ActiveMask { destination: site.destination(&d, ScalarType::B32)? })
        }
        _ => elect(site),
    }
}

fn b32(site: &mut Site<'_, '_, '_, '_>) -> Result<(), PtxError> {
    site.modifiers.need(&[(".b32", ())], "`.b32`")
}

fn sync(site: &mut Site<'_, '_, '_, '_>) -> Result<(), PtxError> {
    site.modifiers.need(&[(".sync", ())], "`.sync`")
}

fn shuffle(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let modes = [
        (".up", ShuffleMode::Up),
        (".down", ShuffleMode::Down),
        (".bfly", ShuffleMode::Butterfly),
        (".idx", ShuffleMode::Index),
    ];
    let is_sync = site.modifiers.flag(".sync");
    let mode = site.modifiers.need(&modes, "`.up`, `.down`, `.bfly` or `.idx`")?;
    b32(site)?;
    let mask = mask(site, is_sync, 4)?;
    let [d, value, lane, clamp] = site.take()?;
    let (d, p) = site.pair(d);
    Ok(Operation::Shuffle(Shuffle {
        mode,
        destination: site.destination(&d, ScalarType::B32)?,
        in_range: p.map_or(Ok(None), |p| site.sink(&p, ScalarType::Pred, Fit::Exact))?,
        value: site.value(&value, ScalarType::B32)?,
        lane: site.value(&lane, ScalarType::U32)?,
        clamp: site.value(&clamp, ScalarType::U32)?,
        mask,
    }))
}

/// The mask behind `fixed` operands, which `.sync` has and the old form has not.
fn mask(site: &mut Site<'_, '_, '_, '_>, is_sync: bool, fixed: usize) -> Result<Option<Source>, PtxError> {
    if !is_sync {
        return Ok(None);
    }
    match site.take_beyond(fixed) {
        Some(mask) => site.value(&mask, ScalarType::B32).map(Some),
        None => Err(site.modifiers.missing("a mask of lanes behind its operands")),
    }
}

fn vote(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let modes =
        [(".all", VoteMode::All), (".any", VoteMode::Any), (".uni", VoteMode::Uniform), (".ballot", VoteMode::Ballot)];
    let is_sync = site.modifiers.flag(".sync");
    let mode = site.modifiers.need(&modes, "`.all`, `.any`, `.uni` or `.ballot`")?;
    let to = if mode == VoteMode::Ballot { ScalarType::B32 } else { ScalarType::Pred };
    site.modifiers.ty(|ty| Some(ty).filter(|ty| *ty == to))?;
    let mask = mask(site, is_sync, 2)?;
    let [d, a] = site.take()?;
    let destination = site.destination(&d, to)?;
    Ok(Operation::Vote(Vote { mode, destination, predicate: site.predicate(&a)?, mask }))
}

fn matched(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    sync(site)?;
    let all = site.modifiers.need(&[(".all", true), (".any", false)], "`.all` or `.any`")?;
    let ty = site.modifiers.ty(|ty| BitType::of(ty).filter(|ty| matches!(ty, BitType::B32 | BitType::B64)))?;
    let [d, a, mask] = site.take()?;
    let (d, p) = if all { site.pair(d) } else { (d, None) };
    let destination = site.sink(&d, ScalarType::B32, Fit::Exact)?;
    let same: Sink = p.map_or(Ok(None), |p| site.sink(&p, ScalarType::Pred, Fit::Exact))?;
    let (value, mask) = (site.value(&a, ty.scalar())?, site.value(&mask, ScalarType::B32)?);
    Ok(Operation::Match(Match { ty, all, destination, same, value, mask }))
}

/// A reduction on a type.
type Of = fn(IntegerType) -> Reduction;

fn reduce(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    sync(site)?;
    let integers = [(".add", Reduction::Add as Of), (".min", Reduction::Min), (".max", Reduction::Max)];
    let bits = [(".and", Reduction::And), (".or", Reduction::Or), (".xor", Reduction::Xor)];
    let (reduction, ty) = if let Some(reduction) = site.modifiers.choose(&bits) {
        b32(site)?;
        (reduction, ScalarType::B32)
    } else if site.modifiers.has_float() {
        let is_min = site.modifiers.need(&[(".min", true), (".max", false)], "`.min` or `.max`")?;
        let ty = site.modifiers.ty(|ty| Some(ty).filter(|ty| *ty == ScalarType::F32))?;
        let (abs, nan) = (site.modifiers.flag(".abs"), site.modifiers.flag(".NaN"));
        (if is_min { Reduction::FloatMin { abs, nan } } else { Reduction::FloatMax { abs, nan } }, ty)
    } else {
        let reduction = site.modifiers.need(&integers, "an operation such as `.add`")?;
        let word = |ty| IntegerType::of(ty).filter(|ty| matches!(ty, IntegerType::U32 | IntegerType::S32));
        let ty = site.modifiers.ty(word)?;
        (reduction(ty), ty.scalar())
    };
    let [d, a, mask] = site.take()?;
    let destination = site.destination(&d, ty)?;
    let (value, mask) = (site.value(&a, ty)?, site.value(&mask, ScalarType::B32)?);
    Ok(Operation::WarpReduce(WarpReduce { reduction, destination, value, mask }))
}

fn elect(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    sync(site)?;
    let [d, mask] = site.take()?;
    let place = d.clone();
    let (lane, chosen) = site.pair(d);
    let Some(chosen) = chosen else { return site.unexpected(&place, "a register and a predicate: `d|p`") };
    let lane = site.sink(&lane, ScalarType::B32, Fit::Exact)?;
    let chosen = site.destination(&chosen, ScalarType::Pred)?;
    Ok(Operation::Elect { lane, chosen, mask: site.value(&mask, ScalarType::B32)? })
}
