//! Questions about addresses.

use super::rules;

rules! { QUERY;
    RANGE_1 = "RANGE-1" [cuMemGetAddressRange] NOT_FOUND: "something must be mapped or allocated at the address"
        step "vmm" "address-range" 54;
    RANGE_2 = "RANGE-2" [cuMemGetAddressRange] NOT_FOUND: "the current context's device must have a right on the mapping"
        step "random_1" "random-random1-1001" 30 step "found/address-range-rights" "range-mem0-access0" 9;
    RANGE_3 = "RANGE-3" [cuMemGetAddressRange] NOT_FOUND:
        "the current context must reach memory of cuMemAlloc, of a pool, or that was opened"
        step "found/address-range-other-device" "address-range-other-device" 8
        step "found/legacy-opened-other-context" "legacy-opened-other-context" 42
        step "pools/two" "pool-peer" 25 step "pools/one" "pool-host" 25;
    POINTER_1 = "POINTER-1" [cuPointerGetAttribute] INVALID_VALUE:
        "something must be mapped or allocated at the address" step "vmm" "address-range" 55;
    POINTER_3 = "POINTER-3" [cuPointerGetAttribute] INVALID_VALUE:
        "for the device pointer, the current context's device must have a right on the mapping, and opened memory must have been opened in it"
        step "found/device-pointer-no-right" "device-pointer-no-right" 6
        step "pools/busy" "legacy-opened-attributes" 14;
    POINTER_2 = "POINTER-2" [cuPointerGetAttribute] INVALID_VALUE: "the attribute must be a known one"
        manual "cuPointerGetAttribute";
    ERROR_1 = "ERROR-1" [cuGetErrorName, cuGetErrorString] INVALID_VALUE: "the code must be a known one"
        hardware "device::a_code_without_a_name_is_refused";
}
