//! Modules, kernels and launches.

use super::rules;

rules! { MODULE;
    MODULE_1 = "MODULE-1" [cuModuleLoadDataEx] INVALID_PTX: "the text must be PTX" manual "cuModuleLoadDataEx";
    MODULE_2 = "MODULE-2" [cuModuleLoadDataEx] UNSUPPORTED_PTX_VERSION: "the driver must know the version of PTX"
        manual "cuModuleLoadDataEx";
    MODULE_3 = "MODULE-3" [cuModuleLoadDataEx] INVALID_IMAGE: "the image must be code" manual "cuModuleLoadDataEx";
    MODULE_4 = "MODULE-4" [cuModuleUnload, cuModuleGetFunction, cuFuncGetAttribute, cuLaunchKernel] INVALID_HANDLE:
        "the module or kernel must be one that is loaded" manual "cuModuleGetFunction";
    MODULE_5 = "MODULE-5" [cuModuleGetFunction] NOT_FOUND: "the module must have an entry of that name"
        manual "cuModuleGetFunction";
    MODULE_6 = "MODULE-6" [cuFuncGetAttribute] INVALID_VALUE: "the attribute must be a known one"
        manual "cuFuncGetAttribute";
    LAUNCH_1 = "LAUNCH-1" [cuLaunchKernel, cuOccupancyMaxActiveBlocksPerMultiprocessor] INVALID_VALUE:
        "a block has at least one thread and no more than the device allows" manual "cuLaunchKernel";
    LAUNCH_2 = "LAUNCH-2" [cuLaunchKernel] INVALID_VALUE: "a grid has at least one block and no more than the device allows"
        manual "cuLaunchKernel";
    LAUNCH_3 = "LAUNCH-3" [cuLaunchKernel] INVALID_VALUE: "a block may use only as much shared memory as the device has"
        manual "cuLaunchKernel";
}
