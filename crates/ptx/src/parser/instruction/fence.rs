//! Fences.

use super::super::site::Site;
use crate::error::PtxError;
use crate::instruction::{Fence, Operation, Order, ProxyFence, Scope, StateSpace};

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let is_membar = site.modifiers.opcode.text == "membar";
    let fence = if site.modifiers.flag(".proxy") {
        Fence::Proxy(if is_membar { alias(site)? } else { proxy(site)? })
    } else if is_membar {
        let levels = [(".cta", Scope::Cta), (".gl", Scope::Gpu), (".sys", Scope::Sys)];
        Fence::SequentiallyConsistent(site.modifiers.need(&levels, "`.cta`, `.gl` or `.sys`")?)
    } else {
        thread(site)?
    };
    let [] = site.take()?;
    Ok(Operation::Fence(fence))
}

fn alias(site: &mut Site<'_, '_, '_, '_>) -> Result<ProxyFence, PtxError> {
    site.modifiers.need(&[(".alias", ProxyFence::Alias)], "`.alias`")
}

fn thread(site: &mut Site<'_, '_, '_, '_>) -> Result<Fence, PtxError> {
    if site.modifiers.flag(".mbarrier_init") {
        if site.modifiers.flag(".release") && site.modifiers.flag(".cluster") {
            return Ok(Fence::BarrierInit);
        }
        return Err(site.modifiers.missing("`.release.cluster` beside `.mbarrier_init`"));
    }
    let restricted = restriction(site);
    if site.modifiers.flag(".sc") {
        let scope = site.modifiers.scope().ok_or_else(|| site.modifiers.missing("a scope such as `.gpu`"))?;
        return Ok(Fence::SequentiallyConsistent(scope));
    }
    site.modifiers.refuse(&[".weak", ".volatile", ".mmio", ".relaxed"])?;
    if let Some(order) = site.modifiers.order()? {
        return Ok(Fence::Ordered(order));
    }
    if restricted {
        return Err(site.modifiers.missing("`.acquire` or `.release`"));
    }
    // Without an order it is that of acquire and release.
    let scope = site.modifiers.scope().ok_or_else(|| site.modifiers.missing("a scope such as `.gpu`"))?;
    Ok(Fence::Ordered(Order::AcquireRelease(scope)))
}

/// `.sync_restrict`, which makes a fence weaker. Here it is as strong as without.
fn restriction(site: &mut Site<'_, '_, '_, '_>) -> bool {
    let forms = [".sync_restrict::shared::cluster", ".sync_restrict::shared::cta"];
    forms.iter().any(|form| site.modifiers.flag(form))
}

fn proxy(site: &mut Site<'_, '_, '_, '_>) -> Result<ProxyFence, PtxError> {
    if site.modifiers.flag(".alias") {
        return Ok(ProxyFence::Alias);
    }
    if site.modifiers.flag(".async") {
        site.modifiers.space();
        return Ok(ProxyFence::Async);
    }
    let is_tensor = site.modifiers.flag(".tensormap::generic");
    if !is_tensor && !site.modifiers.flag(".async::generic") {
        return Err(site.modifiers.missing("a proxy such as `.alias`"));
    }
    restriction(site);
    let order = site.modifiers.order()?.ok_or_else(|| site.modifiers.missing("`.acquire` or `.release`"))?;
    if is_tensor && let Some(size) = site.take_beyond(1) {
        site.integer(&size)?;
        let [address] = site.take()?;
        site.address(&address, StateSpace::Generic)?;
    }
    Ok(if is_tensor { ProxyFence::TensorMap(order) } else { ProxyFence::AsyncGeneric(order) })
}
