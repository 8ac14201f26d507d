//! Contexts, the stack of each thread, primary contexts, peer access.

use std::collections::BTreeSet;

use peermap_driver::{CallSite, Context, Device, Result};

use super::queue::{Plan, Wait};
use super::{Outside, Process, ThreadId};
use crate::rules;
use crate::wire::Rights;

/// A context that exists.
#[derive(Debug)]
pub(super) struct ContextState {
    pub(super) ordinal: usize,
    /// How often the primary context of a device is retained; `None` for other contexts.
    pub(super) primary: Option<u32>,
    pub(super) peers: BTreeSet<u64>,
    /// For how many streams at once there is a place already.
    pub(super) stream_places: u64,
    pub(super) site: CallSite,
}

impl Process {
    /// The current context of a thread, if its process may still use contexts.
    pub(super) fn current(&self, thread: ThreadId) -> Result<u64> {
        self.refuse_after_fault()?;
        let Some(context) = self.threads.get(&thread).and_then(|stack| stack.last()).copied() else {
            return Err(rules::CTX_1.refuse(&[], None));
        };
        if !self.contexts.contains_key(&context) && rules::CTX_3.is_on() {
            return Err(rules::CTX_3.refuse(&[], None));
        }
        Ok(context)
    }

    pub(super) fn ordinal_of_context(&self, context: u64) -> usize {
        self.contexts.get(&context).map_or(0, |state| state.ordinal)
    }

    fn existing(&self, context: Context) -> Result<&ContextState> {
        self.contexts.get(&context.as_raw()).ok_or_else(|| rules::CTX_2.refuse(&[("context", &context)], None))
    }

    fn new_context(&mut self, outside: &mut Outside<'_>, device: Device, primary: Option<u32>) -> Result<u64> {
        self.device(device)?;
        let ordinal = usize::try_from(device.0).expect("a device that is seen has an ordinal");
        self.take_for_context(outside, ordinal, |needed, free| {
            rules::CTX_4.refuse(&[("device", &device), ("needed", &needed), ("free", &free)], None)
        })?;
        let context = self.new_opaque();
        let (peers, site) = (BTreeSet::new(), self.site);
        self.contexts.insert(context, ContextState { ordinal, primary, peers, stream_places: 0, site });
        Ok(context)
    }

    /// `cuCtxCreate`: the raw value of the context.
    ///
    /// # Errors
    /// FAULT-1, DEVICE-1, CTX-4.
    pub fn ctx_create(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        _flags: u32,
        device: Device,
    ) -> Result<u64> {
        self.refuse_after_fault()?;
        let context = self.new_context(outside, device, None)?;
        self.threads.entry(thread).or_default().push(context);
        Ok(context)
    }

    /// What must have ended before `cuCtxDestroy` goes on.
    ///
    /// # Errors
    /// CTX-2.
    pub fn ctx_destroy_waits(&mut self, context: Context) -> Result<Plan> {
        self.existing(context)?;
        Ok(self.plan(&Wait::Context(context.as_raw())))
    }

    /// `cuCtxDestroy`, after its work has ended.
    ///
    /// # Errors
    /// CTX-2.
    pub fn ctx_destroy(&mut self, outside: &mut Outside<'_>, thread: ThreadId, context: Context) -> Result<()> {
        self.existing(context)?;
        self.remove_context(outside, context.as_raw())?;
        if let Some(stack) = self.threads.get_mut(&thread)
            && stack.last() == Some(&context.as_raw())
        {
            stack.pop();
        }
        Ok(())
    }

    fn remove_context(&mut self, outside: &mut Outside<'_>, context: u64) -> Result<()> {
        self.see_context(outside, context)?;
        if let Some(ContextState { ordinal, peers, stream_places, .. }) = self.contexts.remove(&context) {
            peers.into_iter().for_each(|peer| self.close_peer(outside, ordinal, peer));
            self.give_back_of_context(outside, ordinal, stream_places)?;
        }
        for state in self.contexts.values_mut() {
            state.peers.remove(&context);
        }
        self.streams.retain(|_, stream| stream.context != context);
        let of_context: Vec<u64> =
            self.events.iter().filter(|(_, event)| event.context == context).map(|(event, _)| *event).collect();
        for event in of_context {
            if let Some(state) = self.events.remove(&event) {
                state.origin.close(outside)?;
            }
        }
        self.functions.retain(|_, function| function.context != context);
        self.modules.retain(|_, module| module.context != context);
        self.close_legacy_of(outside, context)?;
        self.free_legacy_of(outside, context)
    }

    /// `cuCtxSetCurrent`.
    ///
    /// # Errors
    /// CTX-2.
    pub fn ctx_set_current(&mut self, thread: ThreadId, context: Option<Context>) -> Result<()> {
        if let Some(context) = context {
            self.existing(context)?;
        }
        let stack = self.threads.entry(thread).or_default();
        stack.pop();
        stack.extend(context.map(Context::as_raw));
        Ok(())
    }

    /// `cuCtxGetCurrent`: the raw value of the context.
    #[must_use]
    pub fn ctx_get_current(&self, thread: ThreadId) -> Option<u64> {
        self.threads.get(&thread).and_then(|stack| stack.last()).copied()
    }

    /// `cuCtxPushCurrent`.
    ///
    /// # Errors
    /// CTX-2.
    pub fn ctx_push_current(&mut self, thread: ThreadId, context: Context) -> Result<()> {
        self.existing(context)?;
        self.threads.entry(thread).or_default().push(context.as_raw());
        Ok(())
    }

    /// `cuCtxPopCurrent`: the raw value of the context.
    ///
    /// # Errors
    /// CTX-1.
    pub fn ctx_pop_current(&mut self, thread: ThreadId) -> Result<u64> {
        self.threads.get_mut(&thread).and_then(Vec::pop).ok_or_else(|| rules::CTX_1.refuse(&[], None))
    }

    /// `cuCtxGetDevice`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3.
    pub fn ctx_get_device(&self, thread: ThreadId) -> Result<Device> {
        let context = self.current(thread)?;
        Ok(Device(i32::try_from(self.ordinal_of_context(context)).unwrap_or(i32::MAX)))
    }

    /// What must have ended before `cuCtxSynchronize` returns.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3.
    pub fn ctx_synchronize(&mut self, thread: ThreadId) -> Result<Plan> {
        let context = self.current(thread)?;
        Ok(self.plan(&Wait::Context(context)))
    }

    /// `cuDevicePrimaryCtxRetain`: the raw value of the context.
    ///
    /// # Errors
    /// FAULT-1, DEVICE-1, CTX-4.
    pub fn device_primary_ctx_retain(&mut self, outside: &mut Outside<'_>, device: Device) -> Result<u64> {
        self.refuse_after_fault()?;
        self.device(device)?;
        if let Some((context, state)) = self.primary_of(device) {
            state.primary = state.primary.map(|count| count + 1);
            return Ok(context);
        }
        self.new_context(outside, device, Some(1))
    }

    fn primary_of(&mut self, device: Device) -> Option<(u64, &mut ContextState)> {
        self.contexts
            .iter_mut()
            .find(|(_, state)| state.primary.is_some() && i32::try_from(state.ordinal) == Ok(device.0))
            .map(|(context, state)| (*context, state))
    }

    /// `cuDevicePrimaryCtxRelease`: what must have ended before the last release goes on.
    ///
    /// # Errors
    /// DEVICE-1, CTX-2.
    pub fn device_primary_ctx_release_waits(&mut self, device: Device) -> Result<Plan> {
        self.device(device)?;
        match self.primary_of(device).map(|(context, state)| (context, state.primary)) {
            Some((context, Some(1))) => Ok(self.plan(&Wait::Context(context))),
            Some(_) => Ok(Plan::default()),
            None => Err(rules::CTX_2.refuse(&[("device", &device)], None)),
        }
    }

    /// `cuDevicePrimaryCtxRelease`, after the work of the last release has ended.
    ///
    /// # Errors
    /// DEVICE-1, CTX-2.
    pub fn device_primary_ctx_release(&mut self, outside: &mut Outside<'_>, device: Device) -> Result<()> {
        self.device(device)?;
        let Some((context, state)) = self.primary_of(device) else {
            return Err(rules::CTX_2.refuse(&[("device", &device)], None));
        };
        state.primary = state.primary.map(|count| count - 1);
        if state.primary == Some(0) { self.remove_context(outside, context) } else { Ok(()) }
    }

    /// `cuCtxEnablePeerAccess`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1 to CTX-3, PEER-1 to PEER-4.
    pub fn ctx_enable_peer_access(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        peer: Context,
        flags: u32,
    ) -> Result<()> {
        let context = self.current(thread)?;
        if flags != 0 && rules::PEER_1.is_on() {
            return Err(rules::PEER_1.refuse(&[("flags", &flags)], None));
        }
        let (ordinal, peer_ordinal) = (self.ordinal_of_context(context), self.existing(peer)?.ordinal);
        let (device, peer_device) = (self.visible[ordinal], self.visible[peer_ordinal]);
        if !self.profile.connected(device, peer_device) && rules::PEER_2.is_on() {
            return Err(rules::PEER_2.refuse(&[("peer", &peer)], None));
        }
        let max_peers = self.profile.max_peers;
        let state = self.contexts.get_mut(&context).expect("the current context exists");
        if state.peers.contains(&peer.as_raw()) && rules::PEER_3.is_on() {
            return Err(rules::PEER_3.refuse(&[("peer", &peer)], Some(state.site)));
        }
        if state.peers.len() >= max_peers && rules::PEER_4.is_on() {
            let most = u64::try_from(max_peers).unwrap_or(u64::MAX);
            return Err(rules::PEER_4.refuse(&[("peer", &peer), ("most", &most)], None));
        }
        state.peers.insert(peer.as_raw());
        for (start, allocation) in self.legacy.range(..).filter(|(_, allocation)| allocation.context == peer.as_raw()) {
            outside.tables.set(ordinal, *start, allocation.mapped, allocation.backing, Rights::ReadWrite);
        }
        Ok(())
    }

    /// `cuCtxDisablePeerAccess`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, PEER-5.
    pub fn ctx_disable_peer_access(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        peer: Context,
    ) -> Result<()> {
        let context = self.current(thread)?;
        let state = self.contexts.get_mut(&context).expect("the current context exists");
        let ordinal = state.ordinal;
        if !state.peers.remove(&peer.as_raw()) && rules::PEER_5.is_on() {
            return Err(rules::PEER_5.refuse(&[("peer", &peer)], None));
        }
        self.close_peer(outside, ordinal, peer.as_raw());
        Ok(())
    }

    /// Takes legacy memory of a peer from a device, unless another context of the device reaches it still.
    fn close_peer(&self, outside: &mut Outside<'_>, ordinal: usize, peer: u64) {
        let reaches = |state: &ContextState| state.ordinal == ordinal && state.peers.contains(&peer);
        if self.contexts.values().any(reaches) {
            return;
        }
        for (start, allocation) in self.legacy.iter().filter(|(_, allocation)| allocation.context == peer) {
            outside.tables.clear(ordinal, *start, allocation.mapped);
        }
    }
}
