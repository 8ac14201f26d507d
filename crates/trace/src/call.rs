//! The calls that a step can make.

use std::fmt;

use peermap_driver::Call;

/// What a step does outside the driver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OsStep {
    /// Gives a descriptor, or the bytes of a handle, to another process.
    Send,
    /// Closes a descriptor.
    CloseFd,
    /// Opens a descriptor that is no exported memory.
    OpenFd,
    /// Ends the process at once, without unwinding.
    Exit,
    /// Ends the process by SIGKILL.
    Kill,
}

const OS_STEPS: &[(&str, OsStep)] = &[
    ("send", OsStep::Send),
    ("close_fd", OsStep::CloseFd),
    ("open_fd", OsStep::OpenFd),
    ("exit", OsStep::Exit),
    ("kill", OsStep::Kill),
];

/// The driver calls of version 1. It is longer than the list of calls that [`peermap_driver::Driver`] has.
const DRIVER_CALLS: &[&str] = &[
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGetAttribute",
    "cuDeviceCanAccessPeer",
    "cuMemGetAllocationGranularity",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemAddressReserve",
    "cuMemAddressFree",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemSetAccess",
    "cuMemGetAccess",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemRetainAllocationHandle",
    "cuMemGetAllocationPropertiesFromHandle",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemGetInfo",
    "cuMemsetD8",
    "cuMemcpyDtoH",
    "cuMemcpyHtoD",
    "cuMemcpyDtoD",
    "cuMemGetAddressRange",
    "cuPointerGetAttribute",
    "cuLaunchKernel",
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuCtxSetCurrent",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
    "cuCtxGetCurrent",
    "cuCtxSynchronize",
    "cuCtxEnablePeerAccess",
    "cuCtxDisablePeerAccess",
    "cuDevicePrimaryCtxRetain",
    "cuIpcGetMemHandle",
    "cuIpcOpenMemHandle",
    "cuIpcCloseMemHandle",
    "cuEventCreate",
    "cuEventDestroy",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuIpcGetEventHandle",
    "cuIpcOpenEventHandle",
    "cuStreamCreate",
    "cuStreamDestroy",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuModuleUnload",
];

/// The driver calls that were added to version 1 later: those of memory pools.
const POOL_CALLS: &[&str] = &[
    "cuMemAllocAsync",
    "cuMemAllocFromPoolAsync",
    "cuMemFreeAsync",
    "cuDeviceGetDefaultMemPool",
    "cuDeviceGetMemPool",
    "cuDeviceSetMemPool",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemPoolSetAccess",
    "cuMemPoolGetAccess",
    "cuMemPoolExportToShareableHandle",
    "cuMemPoolImportFromShareableHandle",
    "cuMemPoolExportPointer",
    "cuMemPoolImportPointer",
];

/// The driver calls that were added to version 1 after those: those of multicast.
const MULTICAST_CALLS: &[&str] = &[
    "cuMulticastCreate",
    "cuMulticastAddDevice",
    "cuMulticastBindMem",
    "cuMulticastBindAddr",
    "cuMulticastUnbind",
    "cuMulticastGetGranularity",
];

/// What a step calls: a driver call that the format knows, or an [`OsStep`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StepCall {
    name: &'static str,
    /// Both are looked up when a step is read, because a player asks for them each time that it plays it.
    driver: Option<Call>,
    os: Option<OsStep>,
}

impl StepCall {
    /// The call of a name, if the format knows it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::names().find(|known| *known == name).map(Self::of)
    }

    /// Every call that the format knows: those of the driver, then the steps outside it.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::names().map(Self::of)
    }

    fn names() -> impl Iterator<Item = &'static str> {
        let driver = DRIVER_CALLS.iter().chain(POOL_CALLS).chain(MULTICAST_CALLS);
        driver.copied().chain(OS_STEPS.iter().map(|(name, _)| *name))
    }

    fn of(name: &'static str) -> Self {
        let os = OS_STEPS.iter().find(|(known, _)| *known == name).map(|(_, step)| *step);
        Self { name, driver: Call::from_name(name), os }
    }

    /// The name: `cuMemMap`, `send`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The call of the driver trait. `None`: a step outside the driver, or a call that the trait does not have.
    #[must_use]
    pub const fn driver_call(self) -> Option<Call> {
        self.driver
    }

    /// The step outside the driver, if it is one.
    #[must_use]
    pub const fn os_step(self) -> Option<OsStep> {
        self.os
    }
}

impl fmt::Display for StepCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for StepCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for call in StepCall::all() {
            assert_eq!(StepCall::from_name(call.name()), Some(call));
        }
    }

    #[test]
    fn a_call_is_of_the_driver_or_of_the_system_but_not_both() {
        assert_eq!(StepCall::from_name("send").and_then(StepCall::os_step), Some(OsStep::Send));
        assert_eq!(StepCall::from_name("send").and_then(StepCall::driver_call), None);
        assert_eq!(StepCall::from_name("cuMemMap").and_then(StepCall::driver_call), Some(Call::cuMemMap));
        assert_eq!(StepCall::from_name("cuMemMap").and_then(StepCall::os_step), None);
    }

    #[test]
    fn a_driver_call_that_the_format_does_not_have_is_unknown() {
        assert_eq!(StepCall::from_name("cuMemHostAlloc"), None);
    }
}
