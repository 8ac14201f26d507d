//! Multicast objects, and calls that wait for a whole team.

use std::time::{Duration, Instant};

use peermap_driver::{
    ByteSize, Call, Device, DevicePtr, DriverError, GranularityOption, MemHandle, MulticastObjectProp, Result,
};
use peermap_ipc::stage::pause;
use peermap_model::{Outside, Process, ThreadId};

use crate::handle;
use crate::process::{Inner, SimProcess};

/// How long a call waits for a whole team if nobody says otherwise. The real driver waits for ever.
pub const TEAM_TIME: Duration = Duration::from_secs(10);

/// How often a call that waits looks whether the team is complete.
const INTERVAL: Duration = Duration::from_millis(1);

impl SimProcess {
    /// Lets calls that wait for a whole team do so for at most so long: [`TEAM_TIME`] if this was never called. Then they end as
    /// [`DriverError::WouldHang`], which says who is missing.
    pub fn wait_for_teams(&self, most: Duration) {
        self.inner.lock().team_time = most;
    }
}

impl Inner {
    /// Makes a call that may wait for a whole team. No lock is held while it waits.
    pub(crate) fn with_whole_team(
        &self,
        call: Call,
        mut answer: impl FnMut(&mut Process, &mut Outside<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut answered = self.call(call, &mut answer);
        // Few calls wait, and the others need no clock.
        let mut start = None;
        while let Err(DriverError::WouldHang { .. }) = answered
            && start.get_or_insert_with(Instant::now).elapsed() < self.lock().team_time
        {
            pause(INTERVAL);
            answered = self.resume(&mut answer);
        }
        answered
    }

    pub(crate) fn multicast_create(&self, _: ThreadId, prop: &MulticastObjectProp) -> Result<MemHandle> {
        self.call(Call::cuMulticastCreate, |process, outside| process.multicast_create(outside, prop))
            .map(handle::mem_handle)
    }

    pub(crate) fn multicast_add_device(&self, _: ThreadId, mc_handle: MemHandle, device: Device) -> Result<()> {
        self.call(Call::cuMulticastAddDevice, |process, outside| {
            process.multicast_add_device(outside, mc_handle, device)
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the arguments are CUDA's")]
    pub(crate) fn multicast_bind_mem(
        &self,
        _: ThreadId,
        mc_handle: MemHandle,
        mc_offset: ByteSize,
        mem_handle: MemHandle,
        mem_offset: ByteSize,
        size: ByteSize,
        flags: u64,
    ) -> Result<()> {
        self.with_whole_team(Call::cuMulticastBindMem, |process, outside| {
            let (team, memory) = ((mc_handle, mc_offset), (mem_handle, mem_offset));
            process.multicast_bind_mem(outside, team, memory, size, flags)
        })
    }

    pub(crate) fn multicast_bind_addr(
        &self,
        _: ThreadId,
        mc_handle: MemHandle,
        mc_offset: ByteSize,
        memptr: DevicePtr,
        size: ByteSize,
        flags: u64,
    ) -> Result<()> {
        self.with_whole_team(Call::cuMulticastBindAddr, |process, outside| {
            process.multicast_bind_addr(outside, (mc_handle, mc_offset), memptr, size, flags)
        })
    }

    pub(crate) fn multicast_unbind(
        &self,
        _: ThreadId,
        mc_handle: MemHandle,
        device: Device,
        mc_offset: ByteSize,
        size: ByteSize,
    ) -> Result<()> {
        self.call(Call::cuMulticastUnbind, |process, outside| {
            process.multicast_unbind(outside, (mc_handle, mc_offset), device, size)
        })
    }

    pub(crate) fn multicast_get_granularity(
        &self,
        _: ThreadId,
        prop: &MulticastObjectProp,
        option: GranularityOption,
    ) -> Result<ByteSize> {
        self.call(Call::cuMulticastGetGranularity, |process, _| process.multicast_get_granularity(prop, option))
    }
}
