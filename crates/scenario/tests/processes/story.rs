//! Every driver call of a run with two workers, by the step in which it is made.

use peermap_driver::Call::{self, *};
use peermap_scenario::VerifyOn;

/// A call of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Counted from 1.
    pub number: usize,
    pub call: Call,
    /// The step in which it is made.
    pub step: &'static str,
}

fn tell(steps: &[(&'static str, &[Call])]) -> Vec<Told> {
    let calls = steps.iter().flat_map(|(step, calls)| calls.iter().map(move |call| (*call, *step)));
    (1..).zip(calls).map(|(number, (call, step))| Told { number, call, step }).collect()
}

/// The calls of worker 1 of two, whose device is the second that it sees.
pub fn of_worker(verify_on: VerifyOn) -> Vec<Told> {
    let fill = [cuEventRecord, cuLaunchKernel, cuEventRecord, cuStreamSynchronize, cuEventElapsedTime];
    let verify: &[Call] = match verify_on {
        VerifyOn::Device => &[cuMemsetD8Async, cuMemsetD8Async, cuLaunchKernel, cuStreamSynchronize, cuMemcpyDtoH],
        VerifyOn::Host => &[cuMemcpyDtoH],
    };
    let find_kernel = [cuModuleGetFunction, cuOccupancyMaxActiveBlocksPerMultiprocessor, cuDeviceGetAttribute];
    let import = [cuMemImportFromShareableHandle, cuMemMap, cuMemRelease];
    tell(&[
        ("init", &[cuInit]),
        ("receive descriptors", &[cuDeviceGetCount, cuDeviceGet, cuDeviceGetUuid, cuDeviceGet, cuDeviceGetUuid]),
        ("context", &[cuCtxCreate, cuStreamCreate]),
        ("module", &[cuModuleLoadDataEx]),
        ("module", &find_kernel),
        ("module", &find_kernel),
        ("module", &[cuMemAlloc, cuEventCreate, cuEventCreate]),
        ("reserve", &[cuMemAddressReserve]),
        ("import and map", &import),
        ("import and map", &import),
        ("access", &[cuMemSetAccess]),
        ("fill 0", &fill),
        ("fill 1", &fill),
        ("verify 1", verify),
        ("teardown", &[cuEventDestroy, cuEventDestroy, cuStreamDestroy, cuMemFree, cuModuleUnload]),
        ("teardown", &[cuMemUnmap, cuMemAddressFree, cuCtxDestroy]),
    ])
}

/// The calls of the parent of two workers on two devices.
pub fn of_parent() -> Vec<Told> {
    let able = [cuDeviceGetAttribute; 4];
    tell(&[
        ("init", &[cuInit]),
        ("choose devices", &[cuDeviceGetCount, cuDeviceGet, cuDeviceGet]),
        ("choose devices", &able),
        ("choose devices", &[cuDeviceGetUuid, cuDeviceGetName]),
        ("choose devices", &able),
        ("choose devices", &[cuDeviceCanAccessPeer, cuDeviceCanAccessPeer]),
        ("choose devices", &[cuDeviceGetUuid, cuDeviceGetName]),
        ("check the size", &[cuMemGetAllocationGranularity, cuDeviceTotalMem]),
        ("allocate and export", &[cuMemCreate, cuMemExportToShareableHandle]),
        ("allocate and export", &[cuMemCreate, cuMemExportToShareableHandle]),
        ("release", &[cuMemRelease, cuMemRelease]),
    ])
}

/// The same with peer access between contexts, as the sample does it.
pub fn of_parent_with_peers() -> Vec<Told> {
    let able = [cuDeviceGetAttribute; 4];
    let enable = [cuCtxSetCurrent, cuCtxEnablePeerAccess];
    tell(&[
        ("init", &[cuInit]),
        ("choose devices", &[cuDeviceGetCount, cuDeviceGet, cuDeviceGet]),
        ("choose devices", &able),
        ("choose devices", &[cuCtxCreate, cuDeviceGetUuid, cuDeviceGetName]),
        ("choose devices", &able),
        ("choose devices", &[cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, cuCtxCreate]),
        ("choose devices", &enable),
        ("choose devices", &enable),
        ("choose devices", &[cuDeviceGetUuid, cuDeviceGetName, cuCtxDestroy, cuCtxDestroy]),
        ("check the size", &[cuMemGetAllocationGranularity, cuDeviceTotalMem]),
        ("allocate and export", &[cuMemCreate, cuMemExportToShareableHandle]),
        ("allocate and export", &[cuMemCreate, cuMemExportToShareableHandle]),
        ("release", &[cuMemRelease, cuMemRelease]),
    ])
}
