//! Memory pools.

use super::rules;

rules! { POOL;
    HANDLE_2 = "HANDLE-2" [cuMemPoolGetAttribute] SUCCESS:
        "the driver follows a pool that was never handed out, and crashes" step "pools/one" "pool-made-up" 3;
    HANDLE_3 = "HANDLE-3" [cuMemPoolExportPointer] SUCCESS:
        "the driver follows the handle of a pool that has fabric handles only and was not exported, and crashes"
        step "pools/one" "pool-export-fabric" 6;
    POOL_1 = "POOL-1" [cuMemAllocFromPoolAsync, cuDeviceSetMemPool, cuMemPoolDestroy, cuMemPoolGetAttribute,
        cuMemPoolSetAttribute, cuMemPoolTrimTo, cuMemPoolSetAccess, cuMemPoolGetAccess,
        cuMemPoolExportToShareableHandle, cuMemPoolImportPointer] INVALID_VALUE:
        "the pool must exist" step "pools/one" "pool-attributes" 139 step "pools/one" "pool-current" 22
        step "pools/one" "pool-current" 47 step "pools/one" "pool-destroyed-alloc" 5 step "pools/one" "pool-destroyed-get-attribute" 5
        step "pools/one" "pool-destroyed-set-attribute" 5 step "pools/one" "pool-destroyed-trim" 5
        step "pools/one" "pool-destroyed-export" 5 step "pools/one" "pool-access" 67 step "pools/one" "pool-access" 68
        step "pools/one" "pool-import-same-process" 18;
    POOL_2 = "POOL-2" [cuMemAllocFromPoolAsync, cuDeviceSetMemPool, cuMemPoolGetAttribute, cuMemPoolSetAttribute,
        cuMemPoolTrimTo, cuMemPoolExportToShareableHandle] INVALID_VALUE:
        "the pool must be one of this process, not an imported one" step "pools/one" "pool-import" 30
        step "pools/one" "pool-import" 31 step "pools/one" "pool-import" 32 step "pools/one" "pool-import" 34
        step "pools/one" "pool-import" 35 step "pools/one" "pool-import" 36;
    POOL_3 = "POOL-3" [cuMemPoolCreate] INVALID_VALUE: "the type must be pinned"
        step "pools/one" "pool-create" 3 step "pools/one" "pool-create" 4;
    POOL_4 = "POOL-4" [cuMemPoolCreate] INVALID_VALUE:
        "the handle types must be none, or descriptors and fabric handles as far as pools of the device have them"
        step "pools/one" "pool-create" 6 step "pools/one" "pool-create" 7 step "pools/one" "pool-create" 10;
    POOL_5 = "POOL-5" [cuMemPoolCreate] INVALID_VALUE:
        "the location must be a device that is seen, a node of the host, or the host for a pool that is not shared"
        step "pools/one" "pool-create" 11 step "pools/one" "pool-create" 14 step "pools/one" "pool-create" 16
        step "pools/one" "pool-create" 18 step "pools/one" "pool-create" 23;
    POOL_6 = "POOL-6" [cuMemPoolDestroy] INVALID_VALUE: "a default pool cannot be destroyed"
        step "pools/one" "pool-current" 46;
    POOL_7 = "POOL-7" [cuMemAllocAsync, cuMemAllocFromPoolAsync] OUT_OF_MEMORY:
        "the device must have the memory that the pool has to reserve, and the pool must not grow beyond its maximum"
        step "pools/one" "pool-max-size" 7 step "pools/one" "pool-max-size" 18 step "pools/one" "pool-sizes" 168
        step "pools/one" "pool-sizes" 164 step "pools/busy" "pool-busy-full-10" 23
        step "found/pool-refused-high-water" "pool-refused-high-water" 4;
    POOL_8 = "POOL-8" [cuMemFreeAsync] INVALID_VALUE:
        "the address must be the start of memory of a pool or from cuMemAlloc"
        step "pools/one" "pool-free" 6 step "pools/one" "pool-free" 8 step "pools/one" "pool-free" 36
        step "pools/one" "pool-legacy-import" 9;
    POOL_9 = "POOL-9" [cuDeviceGetMemPool, cuDeviceSetMemPool] INVALID_VALUE:
        "the device must be one that this process sees" step "pools/one" "pool-current" 7 step "pools/one" "pool-current" 20;
    POOL_10 = "POOL-10" [cuDeviceSetMemPool] INVALID_VALUE: "the memory of the pool must lie on the device"
        step "pools/one" "pool-current" 50 step "pools/two" "pool-peer" 70;
    POOL_11 = "POOL-11" [cuMemPoolDestroy] INVALID_VALUE:
        "an imported pool cannot be destroyed while allocations of it are imported" step "pools/one" "pool-share" 45;
    POOL_12 = "POOL-12" [cuMemPoolGetAttribute, cuMemPoolSetAttribute] INVALID_VALUE:
        "the attribute must be a known one, and one that can be set to be set"
        step "pools/one" "pool-attributes" 34 step "pools/one" "pool-attributes" 39 manual "cuMemPoolGetAttribute";
    POOL_13 = "POOL-13" [cuMemPoolSetAttribute] INVALID_VALUE: "a high-water mark can be set to 0 only"
        step "pools/one" "pool-attributes" 36 step "pools/one" "pool-attributes" 40;
    POOL_14 = "POOL-14" [cuMemPoolSetAccess] INVALID_DEVICE:
        "the device must be one that this process sees and that reaches the pool's"
        step "pools/one" "pool-access" 19 step "pools/one" "pool-access" 31;
    POOL_15 = "POOL-15" [cuMemPoolSetAccess] INVALID_DEVICE: "the pool's own device keeps its rights"
        step "pools/one" "pool-access" 16 step "pools/two" "pool-peer" 42;
    POOL_16 = "POOL-16" [cuMemPoolSetAccess] NOT_SUPPORTED:
        "rights are for a device, to read and write or none at all; the host has them on its own memory"
        step "pools/one" "pool-access" 17 step "pools/one" "pool-access" 25 step "pools/one" "pool-host" 44;
    POOL_17 = "POOL-17" [cuMemPoolGetAccess] INVALID_VALUE:
        "the location must be a device that is seen, the host or a node of it"
        step "pools/one" "pool-access" 6 step "pools/one" "pool-access" 8;
    POOL_18 = "POOL-18" [cuMemPoolExportToShareableHandle] INVALID_VALUE:
        "the flags must be 0, and the handle type a single one that the pool was made with"
        step "pools/one" "pool-export" 4 step "pools/one" "pool-export" 10 step "pools/one" "pool-export" 15;
    POOL_19 = "POOL-19" [cuMemPoolExportToShareableHandle] NOT_PERMITTED:
        "a pool with fabric handles needs an IMEX channel" step "pools/one" "pool-export" 32 step "pools/one" "pool-export" 35;
    POOL_20 = "POOL-20" [cuMemPoolImportFromShareableHandle] INVALID_VALUE:
        "the flags must be 0, the handle type a single known one, and the descriptor not 0"
        step "pools/one" "pool-import" 12 step "pools/one" "pool-import" 19 step "pools/one" "pool-import" 21
        step "pools/one" "pool-import" 23;
    POOL_21 = "POOL-21" [cuMemPoolImportFromShareableHandle] NOT_SUPPORTED:
        "handles of Windows are no handles of this platform" step "pools/one" "pool-import" 20;
    POOL_22 = "POOL-22" [cuMemPoolImportFromShareableHandle] UNKNOWN: "the descriptor must be open and an exported pool"
        step "pools/one" "pool-import" 13 step "pools/one" "pool-import" 15 step "pools/one" "pool-import" 45;
    POOL_23 = "POOL-23" [cuMemPoolExportPointer] INVALID_VALUE:
        "the address must be the start of an allocation of a pool that this process has exported"
        step "pools/one" "pool-export" 9 step "pools/one" "pool-export" 20 step "pools/one" "pool-export" 24
        step "pools/one" "pool-share" 38;
    POOL_24 = "POOL-24" [cuMemPoolImportPointer] INVALID_VALUE:
        "the pool must be an imported one, and the data be of an allocation of it"
        step "pools/one" "pool-import-pointers" 33 step "pools/one" "pool-import-same-process" 15;
    POOL_25 = "POOL-25" [cuMemPoolSetAccess] INVALID_VALUE: "the rights must be known ones"
        step "pools/one" "pool-access" 18;
    POOL_26 = "POOL-26" [cuMemPoolExportToShareableHandle] NOT_SUPPORTED: "the device must support fabric handles"
        manual "cuMemPoolExportToShareableHandle";
    POOL_27 = "POOL-27" [cuMemPoolImportFromShareableHandle] NOT_SUPPORTED:
        "a descriptor of memory is no descriptor of a pool" step "pools/one" "pool-import" 18;
    POOL_28 = "POOL-28" [cuMemFreeAsync, cuMemFree] SUCCESS:
        "memory that another process has imported must stay until that process has freed it"
        step "pools/one" "pool-share-owner-first" 17 manual "cuMemPoolImportPointer";
}
