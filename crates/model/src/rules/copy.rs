//! Copies and fills.

use super::rules;

rules! { COPY;
    COPY_1 = "COPY-1" [cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD, cuMemsetD8] INVALID_VALUE:
        "the current context's device must have the right to every byte"
        step "vmm" "copy-faults" 11 step "vmm" "copy-faults" 17 step "vmm" "copy-faults" 22
        step "vmm" "copy-faults" 29 step "peer" "peer-map" 14;
}
