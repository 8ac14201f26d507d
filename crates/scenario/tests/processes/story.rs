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

const FIND_KERNEL: [Call; 3] = [cuModuleGetFunction, cuOccupancyMaxActiveBlocksPerMultiprocessor, cuDeviceGetAttribute];

/// What worker 1 of two does before it gets at the buffers. Its device is the second that it sees.
const PREPARE: [(&str, &[Call]); 6] = [
    ("init", &[cuInit]),
    ("find the device", &[cuDeviceGetCount, cuDeviceGet, cuDeviceGetUuid, cuDeviceGet, cuDeviceGetUuid]),
    ("context", &[cuCtxCreate, cuStreamCreate]),
    ("module", &[cuModuleLoadDataEx]),
    ("module", &FIND_KERNEL),
    ("module", &FIND_KERNEL),
];

/// What it does once it has given the buffers back.
const CLEAR_AWAY: (&str, &[Call]) =
    ("clear away", &[cuEventDestroy, cuEventDestroy, cuMemFree, cuModuleUnload, cuStreamDestroy, cuCtxDestroy]);

fn verify(verify_on: VerifyOn) -> (&'static str, &'static [Call]) {
    match verify_on {
        VerifyOn::Device => {
            ("verify 1", &[cuMemsetD8Async, cuMemsetD8Async, cuLaunchKernel, cuStreamSynchronize, cuMemcpyDtoH])
        }
        VerifyOn::Host => ("verify 1", &[cuMemcpyDtoH]),
    }
}

/// The calls of worker 1 of two.
pub fn of_worker(verify_on: VerifyOn) -> Vec<Told> {
    let fill = [cuEventRecord, cuLaunchKernel, cuEventRecord, cuStreamSynchronize, cuEventElapsedTime];
    let import = [cuMemImportFromShareableHandle, cuMemMap, cuMemRelease];
    let share: [(&str, &[Call]); 7] = [
        ("module", &[cuMemAlloc, cuEventCreate, cuEventCreate]),
        ("reserve", &[cuMemAddressReserve]),
        ("import and map", &import),
        ("import and map", &import),
        ("access", &[cuMemSetAccess]),
        ("fill 0", &fill),
        ("fill 1", &fill),
    ];
    let end = [verify(verify_on), ("teardown", &[cuMemUnmap, cuMemAddressFree]), CLEAR_AWAY];
    tell(&[&PREPARE[..], &share, &end].concat())
}

/// The calls of worker 1 of two of simple-ipc.
pub fn of_simple_worker(verify_on: VerifyOn) -> Vec<Told> {
    let open = [cuIpcOpenMemHandle, cuIpcOpenEventHandle];
    of_relay_worker(verify_on, [&open, &open], &[cuIpcCloseMemHandle, cuIpcCloseMemHandle])
}

/// The calls of worker 1 of two of pool-ipc. Its device has access to its own pool and none to the other.
pub fn of_pool_worker(verify_on: VerifyOn) -> Vec<Told> {
    let own = [cuMemPoolImportFromShareableHandle, cuMemPoolGetAccess, cuMemPoolImportPointer, cuIpcOpenEventHandle];
    let other = [
        cuMemPoolImportFromShareableHandle,
        cuMemPoolGetAccess,
        cuMemPoolSetAccess,
        cuMemPoolImportPointer,
        cuIpcOpenEventHandle,
    ];
    let free = [cuMemFreeAsync, cuMemFreeAsync, cuStreamSynchronize, cuMemPoolDestroy, cuMemPoolDestroy];
    of_relay_worker(verify_on, [&other, &own], &free)
}

/// The calls of worker 1 of two that hand buffers round.
fn of_relay_worker(verify_on: VerifyOn, open: [&[Call]; 2], give_back: &[Call]) -> Vec<Told> {
    let fill = [cuStreamWaitEvent, cuEventRecord, cuLaunchKernel, cuEventRecord, cuEventRecord];
    let share: [(&str, &[Call]); 6] = [
        ("module", &[cuMemAlloc, cuEventCreate, cuEventCreate]),
        ("open handles", open[0]),
        ("open handles", open[1]),
        ("fill 0", &fill),
        ("fill 1", &fill),
        ("synchronize", &[cuStreamSynchronize, cuEventElapsedTime]),
    ];
    let events = [cuEventDestroy, cuEventDestroy];
    let end = [verify(verify_on), ("teardown", give_back), ("teardown", &events), CLEAR_AWAY];
    tell(&[&PREPARE[..], &share, &end].concat())
}

/// What the parent does to choose two devices. `able` is how it finds out what one can do.
fn choose(able: &[Call]) -> [(&'static str, &[Call]); 7] {
    [
        ("init", &[cuInit]),
        ("choose devices", &[cuDeviceGetCount, cuDeviceGet, cuDeviceGet]),
        ("choose devices", able),
        ("choose devices", &[cuDeviceGetUuid, cuDeviceGetName]),
        ("choose devices", able),
        ("choose devices", &[cuDeviceCanAccessPeer, cuDeviceCanAccessPeer]),
        ("choose devices", &[cuDeviceGetUuid, cuDeviceGetName]),
    ]
}

/// The calls of the parent of two workers on two devices.
pub fn of_parent() -> Vec<Told> {
    let share: [(&str, &[Call]); 4] = [
        ("check the size", &[cuMemGetAllocationGranularity, cuDeviceTotalMem]),
        ("allocate and export", &[cuMemCreate, cuMemExportToShareableHandle]),
        ("allocate and export", &[cuMemCreate, cuMemExportToShareableHandle]),
        ("release", &[cuMemRelease, cuMemRelease]),
    ];
    tell(&[&choose(&[cuDeviceGetAttribute; 4])[..], &share].concat())
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

/// The calls of the parent of two workers of simple-ipc on two devices.
pub fn of_simple_parent() -> Vec<Told> {
    let make = [cuCtxCreate, cuMemAlloc, cuIpcGetMemHandle, cuEventCreate, cuIpcGetEventHandle];
    let share: [(&str, &[Call]); 6] = [
        ("check the size", &[cuDeviceTotalMem, cuDeviceTotalMem]),
        ("allocate and export", &make),
        ("allocate and export", &make),
        ("release", &[cuCtxSetCurrent, cuMemFree, cuCtxSetCurrent, cuMemFree]),
        ("release", &[cuCtxSetCurrent, cuEventDestroy, cuCtxSetCurrent, cuEventDestroy]),
        ("release", &[cuCtxDestroy, cuCtxDestroy]),
    ];
    tell(&[&choose(&[cuDeviceGetAttribute; 2])[..], &share].concat())
}

/// The calls of the parent of two workers of pool-ipc on two devices.
pub fn of_pool_parent() -> Vec<Told> {
    let make = [cuCtxCreate, cuStreamCreate, cuMemPoolCreate, cuMemAllocFromPoolAsync, cuStreamSynchronize];
    let export = [cuMemPoolExportToShareableHandle, cuMemPoolExportPointer, cuEventCreate, cuIpcGetEventHandle];
    let free = [cuCtxSetCurrent, cuMemFreeAsync, cuStreamSynchronize];
    let share: [(&str, &[Call]); 11] = [
        ("check the size", &[cuDeviceTotalMem; 4]),
        ("allocate and export", &make),
        ("allocate and export", &export),
        ("allocate and export", &make),
        ("allocate and export", &export),
        ("release", &free),
        ("release", &free),
        ("release", &[cuCtxSetCurrent, cuStreamDestroy, cuCtxSetCurrent, cuStreamDestroy]),
        ("release", &[cuMemPoolDestroy, cuMemPoolDestroy]),
        ("release", &[cuCtxSetCurrent, cuEventDestroy, cuCtxSetCurrent, cuEventDestroy]),
        ("release", &[cuCtxDestroy, cuCtxDestroy]),
    ];
    tell(&[&choose(&[cuDeviceGetAttribute; 4])[..], &share].concat())
}
