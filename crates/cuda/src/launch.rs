//! Launches.

use std::ffi::c_void;

use peermap_driver::{ByteSize, CuResult, DriverError, Function, KernelArg, LaunchConfig, Result};

use crate::driver::CudaDriver;

impl CudaDriver {
    pub(crate) fn occupancy_max_active_blocks_per_multiprocessor(
        &self,
        function: Function,
        block_size: i32,
        dynamic_shared_bytes: ByteSize,
    ) -> Result<i32> {
        let mut blocks = 0;
        // SAFETY: the call writes one `int`; a `Function` holds what the driver gave out, and who made one from another
        // number answered for it there.
        unsafe {
            self.library.occupancy_max_active_blocks_per_multiprocessor(
                &raw mut blocks,
                function.as_raw(),
                block_size,
                dynamic_shared_bytes.get(),
            )
        }?;
        Ok(blocks)
    }

    /// # Safety
    /// As [`Driver::launch_kernel`](peermap_driver::Driver::launch_kernel).
    pub(crate) unsafe fn launch_kernel(&self, config: &LaunchConfig, args: &[KernelArg]) -> Result<()> {
        let LaunchConfig { function, grid, block, shared_bytes, stream } = *config;
        // The driver takes 32 bits. No device has that much shared memory.
        let shared_bytes =
            u32::try_from(shared_bytes.get()).map_err(|_| DriverError::refused(CuResult::INVALID_VALUE))?;
        let mut params = Params::new(args);
        // SAFETY: `cuLaunchKernel` reads each parameter through its pointer before it returns; the caller vouches for
        // number and size. The null pointer says that there are no `extra` options.
        unsafe {
            self.library.launch_kernel(
                function.as_raw(),
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                stream.as_raw(),
                params.pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
    }
}

/// 16 bytes, aligned as the widest type of a kernel parameter.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Chunk([u8; 16]);

/// The parameters of a kernel, and the pointers to them that the driver takes.
struct Params {
    pointers: Vec<*mut c_void>,
    _values: Vec<Vec<Chunk>>,
}

impl Params {
    fn new(args: &[KernelArg]) -> Self {
        let mut values: Vec<Vec<Chunk>> = args.iter().map(|arg| chunks(&arg.to_bytes())).collect();
        let pointers = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        Self { pointers, _values: values }
    }
}

/// The bytes, filled up with zeros to whole chunks.
fn chunks(bytes: &[u8]) -> Vec<Chunk> {
    bytes
        .chunks(16)
        .map(|part| {
            let mut chunk = Chunk([0; 16]);
            chunk.0[..part.len()].copy_from_slice(part);
            chunk
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use peermap_driver::DevicePtr;

    use super::*;

    #[test]
    fn parameters_are_aligned_and_in_order() {
        let params = Params::new(&[
            KernelArg::U8(0xAB),
            KernelArg::Ptr(DevicePtr::new(0x7F00_0000_1234)),
            KernelArg::Bytes((0..20).collect()),
        ]);
        assert!(params.pointers.iter().all(|pointer| pointer.addr().is_multiple_of(16)));
        let [byte, address, structure] = params.pointers[..] else { panic!("one pointer each") };
        // SAFETY: the first parameter has one byte.
        assert_eq!(unsafe { byte.cast::<u8>().read() }, 0xAB);
        // SAFETY: the second parameter has eight bytes, aligned.
        assert_eq!(unsafe { address.cast::<u64>().read() }, 0x7F00_0000_1234);
        // SAFETY: the third parameter has twenty bytes.
        assert!(unsafe { structure.cast::<[u8; 20]>().read() }.into_iter().eq(0..20));
    }

    #[test]
    fn a_kernel_without_parameters_has_no_pointers() {
        assert!(Params::new(&[]).pointers.is_empty());
    }
}
