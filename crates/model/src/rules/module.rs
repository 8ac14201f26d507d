//! Modules, kernels and launches.

use super::rules;

rules! { MODULE;
    MODULE_1 = "MODULE-1" [cuModuleLoadDataEx] INVALID_PTX: "the text must be PTX for this device"
        hardware "module::broken_ptx_is_refused_and_the_log_says_why" hardware "module::ptx_for_a_later_device_is_refused"
        hardware "module::a_function_that_nobody_has_is_refused";
    MODULE_2 = "MODULE-2" [cuModuleLoadDataEx] UNSUPPORTED_PTX_VERSION: "the driver must know the version of PTX"
        hardware "module::ptx_of_a_later_version_is_refused";
    MODULE_3 = "MODULE-3" [cuModuleLoadDataEx] INVALID_IMAGE: "the image must be code, and PTX begins with its version"
        hardware "module::what_is_no_code_is_refused";
    MODULE_4 = "MODULE-4" [cuModuleUnload, cuModuleGetFunction, cuModuleGetGlobal, cuFuncGetAttribute, cuLaunchKernel] INVALID_HANDLE:
        "the module or kernel must be one that is loaded" manual "cuModuleGetFunction";
    MODULE_5 = "MODULE-5" [cuModuleGetFunction] NOT_FOUND: "the module must have an entry of that name"
        hardware "module::an_entry_that_is_not_there_is_not_found";
    MODULE_6 = "MODULE-6" [cuFuncGetAttribute] INVALID_VALUE: "the attribute must be a known one"
        manual "cuFuncGetAttribute";
    MODULE_7 = "MODULE-7" [cuModuleGetGlobal] NOT_FOUND: "the module must have a variable of that name"
        hardware "module::the_host_finds_the_variables_of_a_module";
    LAUNCH_1 = "LAUNCH-1" [cuLaunchKernel, cuOccupancyMaxActiveBlocksPerMultiprocessor] INVALID_VALUE:
        "a block has at least one thread and no more than the device allows"
        hardware "module::launches_that_the_driver_refuses" hardware "module::a_kernel_knows_what_it_needs";
    LAUNCH_2 = "LAUNCH-2" [cuLaunchKernel] INVALID_VALUE: "a grid has at least one block and no more than the device allows"
        manual "cuLaunchKernel";
    LAUNCH_3 = "LAUNCH-3" [cuLaunchKernel] INVALID_VALUE: "a launch may add shared memory only up to what a block has without asking for more"
        hardware "module::launches_that_the_driver_refuses";
    LAUNCH_4 = "LAUNCH-4" [cuLaunchKernel] LAUNCH_OUT_OF_RESOURCES:
        "a multiprocessor must have registers for all threads of a block"
        hardware "module::launches_that_the_driver_refuses";
    LAUNCH_5 = "LAUNCH-5" [cuLaunchKernel] INVALID_VALUE: "a kernel that requires a shape of block is launched with it"
        hardware "module::launches_that_the_driver_refuses";
}
