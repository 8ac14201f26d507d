//! Reservations, mappings and rights.

use super::rules;

rules! { MAPPING;
    RESERVE_1 = "RESERVE-1" [cuMemAddressReserve] INVALID_VALUE:
        "the size must be a multiple of the granularity and not 0"
        step "vmm" "reserve-args" 3 step "vmm" "reserve-args" 6 manual "cuMemAddressReserve";
    RESERVE_2 = "RESERVE-2" [cuMemAddressReserve] INVALID_VALUE: "the alignment must be 0 or a power of two"
        step "vmm" "reserve-args" 10 step "vmm" "reserve-args" 14;
    RESERVE_3 = "RESERVE-3" [cuMemAddressReserve] INVALID_VALUE:
        "the address asked for must be a multiple of the granularity"
        step "vmm" "reserve-args" 25 step "vmm" "reserve-args" 26 manual "cuMemAddressReserve";
    RESERVE_4 = "RESERVE-4" [cuMemAddressReserve] INVALID_VALUE: "the flags must be 0" step "vmm" "reserve-args" 20;
    RESERVE_5 = "RESERVE-5" [cuMemAddressReserve] OUT_OF_MEMORY: "a free range of that size must be left"
        step "vmm" "reserve-args" 18;
    FREE_1 = "FREE-1" [cuMemAddressFree] INVALID_VALUE: "address and size must be those of a whole reservation"
        step "vmm" "free-args" 4 step "vmm" "free-args" 7 step "vmm" "free-args" 9;
    FREE_2 = "FREE-2" [cuMemAddressFree] INVALID_VALUE:
        "no mapping may touch the reservation, not even one that hangs over from a neighbour"
        step "vmm" "free-while-mapped" 6 step "edges" "overlap-by-neighbour" 14 step "edges" "overhang" 15;
    MAP_1 = "MAP-1" [cuMemMap] INVALID_VALUE: "the flags must be 0" step "vmm" "map-args" 16;
    MAP_2 = "MAP-2" [cuMemMap] INVALID_VALUE: "address and handle must not be null"
        step "vmm" "map-args" 20 step "vmm" "map-args" 21;
    MAP_3 = "MAP-3" [cuMemMap] INVALID_VALUE: "the size must not be 0" step "vmm" "map-args" 9;
    MAP_4 = "MAP-4" [cuMemMap] NOT_SUPPORTED: "the offset must be 0"
        step "vmm" "map-args" 14 step "edges" "map-outside" 15;
    MAP_5 = "MAP-5" [cuMemMap] NOT_SUPPORTED: "the size must be that of the whole allocation"
        step "vmm" "map-args" 7 step "vmm" "map-args" 10 step "share" "map-wrong-size-imported" 11 manual "cuMemMap";
    MAP_6 = "MAP-6" [cuMemMap] INVALID_VALUE: "the start must lie in a reservation"
        step "edges" "map-outside" 8 step "edges" "map-outside" 14;
    MAP_7 = "MAP-7" [cuMemMap] INVALID_VALUE: "the start must be a multiple of the granularity"
        step "edges" "map-outside" 5 step "edges" "map-outside" 7;
    MAP_8 = "MAP-8" [cuMemMap] INVALID_VALUE: "a mapping may not lie over another"
        step "vmm" "map-overlap" 7 step "vmm" "map-overlap" 8 step "edges" "overlap-by-neighbour" 10;
    MAP_9 = "MAP-9" [cuMemMap] SUCCESS:
        "a mapping that hangs over the end of its reservation works, and lies where nobody reserved"
        step "edges" "overhang" 5 manual "cuMemMap";
    UNMAP_1 = "UNMAP-1" [cuMemUnmap] INVALID_VALUE: "the size must not be 0" step "vmm" "unmap-args" 10;
    UNMAP_2 = "UNMAP-2" [cuMemUnmap] INVALID_VALUE: "the start must lie in a reservation"
        step "edges" "unmap-sizes" 20 step "edges" "unmap-sizes" 22 step "vmm" "malloc-on-vmm-calls" 4;
    UNMAP_3 = "UNMAP-3" [cuMemUnmap] INVALID_VALUE: "no mapping may be cut in two"
        step "vmm" "unmap-args" 7 step "vmm" "unmap-args" 8 step "vmm" "unmap-args" 22;
    UNMAP_4 = "UNMAP-4" [cuMemUnmap] SUCCESS: "a range with holes is accepted here and not on other stacks"
        step "vmm" "unmap-args" 9 manual "cuMemUnmap";
    UNMAP_5 = "UNMAP-5" [cuMemUnmap] SUCCESS:
        "a mapping goes at once, and work that no synchronisation has seen through may still use it"
        step "inflight" "memset-then-unmap" 8 step "inflight" "kernel-then-unmap" 8 manual "cuMemUnmap";
    ACCESS_1 = "ACCESS-1" [cuMemSetAccess] INVALID_VALUE: "the size must not be 0 and somebody must be named"
        step "vmm" "access-args" 15 step "vmm" "access-args" 26;
    ACCESS_2 = "ACCESS-2" [cuMemSetAccess] INVALID_VALUE: "every place named must exist"
        step "vmm" "access-args" 18 step "edges" "access-host" 7 step "edges" "access-all-or-nothing" 13;
    ACCESS_3 = "ACCESS-3" [cuMemSetAccess] INVALID_VALUE: "the rights must be none, read or read and write"
        step "vmm" "access-args" 24 step "edges" "access-all-or-nothing" 16;
    ACCESS_4 = "ACCESS-4" [cuMemSetAccess] INVALID_VALUE: "the range must start and end in mappings"
        step "vmm" "access-args" 6 step "vmm" "access-args" 14 step "edges" "access-all-or-nothing" 11;
    ACCESS_5 = "ACCESS-5" [cuMemSetAccess] INVALID_VALUE: "no mapping may be cut in two"
        step "vmm" "access-args" 9 step "vmm" "access-args" 16 step "vmm" "access-args" 32;
    ACCESS_6 = "ACCESS-6" [cuMemSetAccess] NOT_SUPPORTED: "the host gets no access to memory of a device"
        step "edges" "access-host" 9 step "edges" "access-host" 11;
    ACCESS_7 = "ACCESS-7" [cuMemSetAccess] SUCCESS: "over a hole it succeeds and leaves what lies behind without access"
        step "edges" "access-all-or-nothing" 8 manual "cuMemSetAccess";
    ACCESS_8 = "ACCESS-8" [cuMemSetAccess] SUCCESS:
        "rights go at once, and work that no synchronisation has seen through may still need them"
        step "inflight" "memset-then-read-only" 8 manual "cuMemSetAccess";
    GETACCESS_1 = "GETACCESS-1" [cuMemGetAccess] INVALID_VALUE: "something must be mapped at the address"
        step "vmm" "access-args" 33 step "vmm" "access-args" 35;
    GETACCESS_2 = "GETACCESS-2" [cuMemGetAccess] INVALID_DEVICE: "the place must exist"
        step "vmm" "access-args" 36 step "edges" "access-host" 8 step "edges" "access-host" 14
        step "found/get-access-device-first" "get-access-device-first" 3;
    GETACCESS_3 = "GETACCESS-3" [cuMemGetAccess] SUCCESS: "asked about the host, it answers for the device of that number"
        step "edges" "access-host" 10 manual "cuMemGetAccess";
    CPU_1 = "CPU-1" [cuMemSetAccess] ILLEGAL_ADDRESS:
        "the host must have the right to every byte that the CPU reads or writes" manual "cuMemSetAccess";
    RETAIN_1 = "RETAIN-1" [cuMemRetainAllocationHandle] INVALID_VALUE: "something must be mapped there by cuMemMap"
        step "vmm" "retain" 10 step "vmm" "retain-malloc" 4 step "vmm" "release-then-use" 15;
}
