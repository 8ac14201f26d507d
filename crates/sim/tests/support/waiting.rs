//! A kernel that waits for a word and then writes another.

use peermap_driver::{ByteSize, DevicePtr, Dim3, Driver, Function, JitOptions, KernelArg, LaunchConfig, Stream};

/// The kernel, loaded.
pub fn await_and_tell(driver: &dyn Driver) -> Function {
    let text = include_str!("waiting.ptx");
    let module = driver.module_load_data_ex(text.as_bytes(), &mut JitOptions::default()).unwrap();
    driver.module_get_function(module, "await_and_tell").unwrap()
}

/// Queues it: it waits for `seen` at one address, and writes `told` to another.
pub fn queue(driver: &dyn Driver, function: Function, stream: Stream, wait: (DevicePtr, u32), tell: (DevicePtr, u32)) {
    let (grid, block) = (Dim3::x(1), Dim3::x(1));
    let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream };
    let args = [KernelArg::Ptr(wait.0), KernelArg::U32(wait.1), KernelArg::Ptr(tell.0), KernelArg::U32(tell.1)];
    // SAFETY: "args must match the kernel's parameters in number and size": they are those of its declaration.
    unsafe { driver.launch_kernel(&config, &args) }.unwrap();
}
