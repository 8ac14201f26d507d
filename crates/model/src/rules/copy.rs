//! Copies and fills.

use super::rules;

rules! { COPY;
    COPY_1 = "COPY-1" [cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD, cuMemsetD8] INVALID_VALUE:
        "the current context's device must have the right to every byte"
        step "vmm" "copy-faults" 11 step "vmm" "copy-faults" 17 step "vmm" "copy-faults" 22
        step "vmm" "copy-faults" 29 step "peer" "peer-map" 14;
    COPY_2 = "COPY-2" [cuMemsetD8] INVALID_VALUE:
        "memory from cuMemAlloc is set only by its own device and by those with peer access to its context, opened memory only by \
         the context that opened it"
        step "found/memset-other-device" "memset-other-device" 7 step "found/memset-other-device" "memset-other-device" 8
        step "found/memset-other-device" "memset-other-device" 20
        step "found/legacy-opened-other-context" "legacy-opened-other-context" 28
        step "found/legacy-opened-other-device" "legacy-opened-other-device" 28;
    COPY_3 = "COPY-3" [cuMemcpyDtoD, cuMemcpyDtoH, cuMemcpyHtoD] INVALID_VALUE:
        "memory of a pool of the host is no end of a copy between addresses of a device"
        step "pools/one" "pool-host" 40 step "pools/one" "pool-host" 91;
}
