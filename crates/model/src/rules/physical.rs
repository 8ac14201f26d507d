//! Physical allocations: creation, handles, export and import, legacy memory.

use super::rules;

rules! { PHYSICAL;
    CREATE_1 = "CREATE-1" [cuMemCreate] INVALID_VALUE: "the flags must be 0" step "vmm" "create-props" 3;
    CREATE_2 = "CREATE-2" [cuMemCreate] INVALID_VALUE: "the type must be pinned"
        step "vmm" "create-props" 7 step "vmm" "create-props" 8;
    CREATE_3 = "CREATE-3" [cuMemCreate] INVALID_VALUE: "the location must be a device, the host or a node of the host"
        step "vmm" "create-props" 9 step "vmm" "create-props" 14;
    CREATE_4 = "CREATE-4" [cuMemCreate] INVALID_VALUE: "handles of Windows are no handles of this platform"
        step "vmm" "create-props" 15 step "vmm" "create-props" 16 step "vmm" "create-props" 19;
    CREATE_5 = "CREATE-5" [cuMemCreate] INVALID_VALUE: "host memory that is to be shared must name its NUMA node"
        step "vmm" "create-props" 10;
    CREATE_6 = "CREATE-6" [cuMemCreate] INVALID_VALUE: "the compression type must be a known one"
        step "vmm" "create-props" 22;
    CREATE_7 = "CREATE-7" [cuMemCreate] INVALID_VALUE: "the size must be a multiple of the granularity and not 0"
        step "vmm" "create-sizes" 3 step "vmm" "create-sizes" 7 step "vmm" "create-sizes" 11;
    CREATE_8 = "CREATE-8" [cuMemCreate] INVALID_DEVICE: "the device must be one that this process sees"
        step "vmm" "create-props" 5 step "vmm" "create-props" 6;
    CREATE_9 = "CREATE-9" [cuMemCreate] NOT_PERMITTED: "a fabric handle needs an IMEX channel"
        step "vmm" "create-props" 17 step "share" "fabric" 5;
    CREATE_10 = "CREATE-10" [cuMemCreate] OUT_OF_MEMORY: "the device must have that much memory left"
        step "vmm" "oom" 4 step "vmm" "create-sizes" 16;
    CREATE_11 = "CREATE-11" [cuMemCreate] NOT_SUPPORTED: "the device must support fabric handles"
        manual "cuMemCreate";
    CREATE_12 = "CREATE-12" [cuMemCreate] NOT_SUPPORTED: "the devices must support memory of the host"
        manual "cuMemCreate";
    RELEASE_1 = "RELEASE-1" [cuMemRelease] INVALID_VALUE: "a handle is released as often as it was obtained"
        step "vmm" "release-twice" 5 step "vmm" "retain" 17;
    RELEASE_2 = "RELEASE-2" [cuMemRelease] INVALID_VALUE: "the handle must not be null"
        step "vmm" "invalid-handles" 4;
    HANDLE_1 = "HANDLE-1" [cuMemRelease, cuMemMap, cuMemExportToShareableHandle,
        cuMemGetAllocationPropertiesFromHandle] SUCCESS:
        "the driver follows a handle that is gone or was never handed out, and crashes"
        step "vmm" "use-after-release" 6 step "vmm" "invalid-handle-release" 3 step "vmm" "invalid-handle-map" 4
        manual "cuMemRelease";
    EXPORT_1 = "EXPORT-1" [cuMemExportToShareableHandle] INVALID_VALUE: "the handle must not be null"
        step "vmm" "invalid-handles" 6;
    EXPORT_2 = "EXPORT-2" [cuMemExportToShareableHandle] INVALID_VALUE: "the flags must be 0"
        step "share" "export-args" 7;
    EXPORT_3 = "EXPORT-3" [cuMemExportToShareableHandle] INVALID_VALUE:
        "the handle type must have been asked for at creation, in the process that created"
        step "share" "export-args" 8 step "share" "export-args" 9 step "share" "importer-reexports" 11;
    EXPORT_4 = "EXPORT-4" [cuMemExportToShareableHandle] INVALID_VALUE:
        "the device must be able to export the fabric handles that creation grants"
        report "pytorch/pytorch PR #173606";
    IMPORT_1 = "IMPORT-1" [cuMemImportFromShareableHandle] INVALID_VALUE: "the descriptor must not be 0"
        step "share" "import-args" 5;
    IMPORT_2 = "IMPORT-2" [cuMemImportFromShareableHandle] INVALID_VALUE: "the handle type must not be none"
        step "share" "import-args" 9;
    IMPORT_3 = "IMPORT-3" [cuMemImportFromShareableHandle] NOT_SUPPORTED:
        "handles of Windows are no handles of this platform" step "share" "import-args" 8;
    IMPORT_4 = "IMPORT-4" [cuMemImportFromShareableHandle] UNKNOWN: "the descriptor must be open and exported memory"
        step "share" "import-args" 3 step "share" "export-args" 13 step "edges" "import-wrong-descriptor" 8;
    IMPORT_5 = "IMPORT-5" [cuMemImportFromShareableHandle] INVALID_VALUE:
        "the fabric handle must be that of memory which is still there" manual "cuMemImportFromShareableHandle";
    IMPORT_6 = "IMPORT-6" [cuMemImportFromShareableHandle] NOT_SUPPORTED:
        "a descriptor of a pool is no descriptor of memory" step "pools/one" "pool-import" 27;
    PROPS_1 = "PROPS-1" [cuMemGetAllocationPropertiesFromHandle] INVALID_VALUE: "the handle must not be null"
        step "vmm" "invalid-handles" 7;
    ALLOC_1 = "ALLOC-1" [cuMemAlloc] INVALID_VALUE: "the size must not be 0" step "vmm" "malloc-on-vmm-calls" 17;
    ALLOC_2 = "ALLOC-2" [cuMemAlloc, cuModuleLoadDataEx] OUT_OF_MEMORY: "the device must have that much memory left"
        step "vmm" "malloc-on-vmm-calls" 18;
    ALLOC_3 = "ALLOC-3" [cuMemFree] INVALID_VALUE: "the address must be the start of memory from cuMemAlloc"
        step "vmm" "malloc-on-vmm-calls" 12 step "vmm" "malloc-on-vmm-calls" 13 step "legacy" "ctx-life" 6;
    ALLOC_4 = "ALLOC-4" [cuMemFree, cuCtxSynchronize] SUCCESS:
        "memory that another process has open must stay: what that process reads there from now on is undefined"
        step "pools/one" "pool-legacy-import" 12 manual "cuIpcOpenMemHandle";
    LEGACY_1 = "LEGACY-1" [cuIpcGetMemHandle] INVALID_VALUE: "only memory from cuMemAlloc has a legacy handle"
        step "vmm" "malloc-on-vmm-calls" 19 step "legacy" "ipc-mem-args" 5;
    LEGACY_2 = "LEGACY-2" [cuIpcOpenMemHandle] INVALID_VALUE: "the flags must have the lowest bit, lazy peer access"
        step "legacy" "ipc-mem-flags" 8 step "legacy" "ipc-mem-flags" 9 step "peer" "peer-legacy" 8
        step "found/legacy-open-flags-first" "legacy-open-flags-first" 7;
    LEGACY_3 = "LEGACY-3" [cuIpcOpenMemHandle] INVALID_CONTEXT: "a process cannot open its own legacy handle"
        step "legacy" "ipc-mem-args" 7 step "found/legacy-open-more-flags" "legacy-open-more-flags" 5;
    LEGACY_4 = "LEGACY-4" [cuIpcOpenMemHandle] INVALID_HANDLE: "the process that made the handle must be there"
        step "legacy" "ipc-mem-exporter-gone" 9 step "legacy" "ipc-mem-exporter-exits" 14;
    LEGACY_5 = "LEGACY-5" [cuIpcOpenMemHandle] INVALID_VALUE: "the memory must not have been freed by its owner"
        step "legacy" "ipc-mem-exporter-frees" 9;
    LEGACY_6 = "LEGACY-6" [cuIpcOpenMemHandle] INVALID_HANDLE:
        "one context for each device of a process opens what is of one device of another process"
        step "found/legacy-reopen-other-context" "legacy-reopen-other-context" 12
        step "found/legacy-open-second-context" "legacy-open-second-context" 21;
    LEGACY_7 = "LEGACY-7" [cuIpcCloseMemHandle] INVALID_VALUE:
        "the address must be one that cuIpcOpenMemHandle gave" step "legacy" "ipc-mem" 17
        step "legacy" "ipc-mem-args" 8 step "legacy" "ipc-mem-flags" 14;
    LEGACY_8 = "LEGACY-8" [cuIpcOpenMemHandle] OUT_OF_MEMORY: "a free range of addresses must be left"
        manual "cuIpcOpenMemHandle";
    HOST_1 = "HOST-1" [cuMemHostAlloc] INVALID_VALUE: "the size must not be 0" manual "cuMemHostAlloc";
    HOST_2 = "HOST-2" [cuMemFreeHost] INVALID_VALUE: "the address must be one that cuMemHostAlloc gave"
        manual "cuMemFreeHost";
}
