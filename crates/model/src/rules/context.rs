//! Initialisation, devices, contexts, peers, streams, events and faults.

use super::rules;

rules! { CONTEXT;
    INIT_1 = "INIT-1" [cuDeviceGetCount, cuMemAddressReserve, cuMemCreate, cuMemRelease, cuMemMap, cuMemUnmap,
        cuMemAddressFree, cuMemSetAccess, cuMemGetAccess, cuCtxCreate, cuMemAlloc, cuMemGetAllocationGranularity,
        cuMemImportFromShareableHandle, cuDeviceGetDefaultMemPool] NOT_INITIALIZED:
        "cuInit comes before every other call"
        step "vmm" "before-init" 1 step "vmm" "before-init" 12 step "share" "import-before-init" 6;
    INIT_2 = "INIT-2" [cuInit] INVALID_VALUE: "the flags of cuInit must be 0" step "vmm" "before-init" 13;
    INIT_3 = "INIT-3" [cuInit] NO_DEVICE: "at least one device must be visible; CUDA_VISIBLE_DEVICES may hide them" manual "cuInit";
    INIT_4 = "INIT-4" [cuInit, cuDeviceGetCount, cuMemCreate, cuCtxSynchronize] NOT_INITIALIZED:
        "a process that was forked from one with a driver has none before it executes a program"
        report "NVIDIA/cuda-python #1136";
    EXIT_1 = "EXIT-1" [cuCtxSynchronize] SUCCESS:
        "work that no synchronisation has seen through is lost with its process" manual "cuCtxSynchronize";
    DEVICE_1 = "DEVICE-1" [cuDeviceGet, cuDeviceCanAccessPeer, cuCtxCreate, cuDeviceGetDefaultMemPool] INVALID_DEVICE:
        "the device must be one that this process sees" step "peer" "peer-access-query" 6 step "legacy" "ctx-life" 2;
    DEVICE_2 = "DEVICE-2" [cuDeviceGetAttribute] INVALID_VALUE: "the attribute must be a known one"
        hardware "device::attributes_are_numbers_and_unknown_ones_are_refused";
    CTX_1 = "CTX-1" [cuCtxSynchronize, cuCtxPopCurrent, cuMemAlloc, cuMemsetD8, cuMemcpyDtoH, cuIpcOpenMemHandle,
        cuIpcGetMemHandle, cuIpcCloseMemHandle, cuMemGetAddressRange, cuPointerGetAttribute, cuMemAllocAsync,
        cuMemAllocFromPoolAsync, cuMemFreeAsync] INVALID_CONTEXT:
        "a context must be current on the calling thread"
        step "vmm" "no-context" 9 step "vmm" "no-context" 10 step "edges" "context-stack" 3
        step "found/legacy-handle-no-context" "legacy-handle-no-context" 5
        step "found/legacy-close-no-context" "legacy-close-no-context" 26
        step "found/address-range-no-context" "address-range-no-context" 3
        step "found/device-pointer-no-context" "device-pointer-no-context" 5;
    CTX_2 = "CTX-2" [cuCtxDestroy, cuCtxSetCurrent, cuCtxPushCurrent, cuDevicePrimaryCtxRelease] INVALID_CONTEXT:
        "the context must be one that exists" manual "cuCtxDestroy";
    CTX_3 = "CTX-3" [cuCtxSynchronize] CONTEXT_IS_DESTROYED:
        "a context that another thread destroyed stays current and is of no use" manual "cuCtxDestroy";
    CTX_4 = "CTX-4" [cuCtxCreate, cuDevicePrimaryCtxRetain] OUT_OF_MEMORY:
        "a context takes memory of its device, which must have so much" manual "cuCtxCreate";
    FAULT_1 = "FAULT-1" [cuCtxSynchronize, cuCtxCreate, cuMemcpyDtoH, cuMemsetD8, cuMemAlloc, cuMemGetInfo,
        cuLaunchKernel, cuMemGetAddressRange, cuMemAllocAsync, cuMemAllocFromPoolAsync, cuMemFreeAsync] ILLEGAL_ADDRESS:
        "work reaches only what it may and ends well; after a fault the contexts of the process are dead"
        step "vmm" "kernel-fault-unmapped" 9 step "vmm" "kernel-fault-unmapped" 28 step "peer" "peer-fault" 13
        step "inflight" "memset-then-unmap" 9;
    PEER_1 = "PEER-1" [cuCtxEnablePeerAccess] INVALID_VALUE: "the flags must be 0" step "peer" "peer-access-query" 12;
    PEER_2 = "PEER-2" [cuCtxEnablePeerAccess] PEER_ACCESS_UNSUPPORTED:
        "the peer must be on another device, one that is connected" step "peer" "peer-access-query" 11;
    PEER_3 = "PEER-3" [cuCtxEnablePeerAccess] PEER_ACCESS_ALREADY_ENABLED:
        "peer access is enabled once" step "peer" "peer-access-query" 10;
    PEER_4 = "PEER-4" [cuCtxEnablePeerAccess] TOO_MANY_PEERS:
        "a device has only so many peer connections" manual "cuCtxEnablePeerAccess";
    PEER_5 = "PEER-5" [cuCtxDisablePeerAccess] PEER_ACCESS_NOT_ENABLED:
        "peer access must have been enabled" step "peer" "peer-access-query" 14;
    STREAM_1 = "STREAM-1" [cuStreamCreate] INVALID_VALUE: "the flags must be 0 or 1" step "legacy" "streams" 4;
    STREAM_2 = "STREAM-2" [cuStreamSynchronize, cuStreamQuery, cuStreamDestroy, cuStreamWaitEvent, cuEventRecord]
        INVALID_HANDLE: "the stream must be one that exists" manual "cuStreamSynchronize";
    STREAM_3 = "STREAM-3" [cuStreamQuery] NOT_READY: "work of the stream has not ended"
        step "inflight" "inflight-event" 13;
    STREAM_4 = "STREAM-4" [cuStreamCreate] OUT_OF_MEMORY:
        "every fourth stream of a context takes memory of its device, which must have so much" manual "cuStreamCreate";
    EVENT_1 = "EVENT-1" [cuEventCreate] INVALID_VALUE:
        "the flags must be known ones, and inter-process only without timing" step "legacy" "ipc-events" 7;
    EVENT_2 = "EVENT-2" [cuEventQuery, cuEventRecord, cuEventSynchronize, cuEventDestroy, cuStreamWaitEvent]
        INVALID_HANDLE: "the event must be one that exists" manual "cuEventQuery";
    EVENT_3 = "EVENT-3" [cuEventQuery, cuEventElapsedTime] NOT_READY: "the work before the mark has not ended"
        step "inflight" "inflight-event" 12;
    EVENT_5 = "EVENT-5" [cuIpcGetEventHandle] INVALID_HANDLE:
        "the event must have been made here, for other processes" step "legacy" "ipc-events" 6 step "legacy" "ipc-events" 20;
    EVENT_6 = "EVENT-6" [cuIpcOpenEventHandle] INVALID_CONTEXT: "a process cannot open the handle of its own event"
        step "legacy" "ipc-event-same-process" 5;
    EVENT_7 = "EVENT-7" [cuIpcOpenEventHandle] INVALID_HANDLE: "the maker of the event must live, or somebody hold it"
        manual "cuIpcOpenEventHandle";
    EVENT_4 = "EVENT-4" [cuEventElapsedTime] INVALID_HANDLE: "both events must have timing and a mark"
        step "legacy" "ipc-events" 19;
}
