//! Handles of Windows. No recording is of Windows: what stands here is what the manual says, and where it names no code, the one
//! that Linux answers to the mistake that is most like it.

use super::rules;

rules! { WIN32;
    WIN32_1 = "WIN32-1" [cuMemCreate] INVALID_VALUE: "descriptors and fabric handles are no handles of Windows"
        manual "CUmemAllocationHandleType";
    WIN32_2 = "WIN32-2" [cuMemCreate] INVALID_VALUE: "an NT handle needs security attributes"
        manual "CUmemAllocationProp";
    WIN32_3 = "WIN32-3" [cuMemImportFromShareableHandle] INVALID_VALUE:
        "the NT handle must be one of the importer's own table" manual "cuMemImportFromShareableHandle";
}
