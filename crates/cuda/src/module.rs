//! Modules and their kernels.

use std::ffi::CString;

use peermap_driver::{
    ByteSize, CuResult, DevicePtr, DriverError, Function, FunctionAttribute, JitOptions, Module, Result,
};

use crate::driver::CudaDriver;
use crate::jit::JitArrays;

impl CudaDriver {
    pub(crate) fn module_load_data_ex(&self, image: &[u8], options: &mut JitOptions) -> Result<Module> {
        let image = terminated(image);
        let mut jit = JitArrays::new(options);
        let mut raw = 0;
        // SAFETY: the image ends in zero, as PTX must; both arrays have `count` entries, and the logs the sizes that the
        // values say. All of it outlives the call, after which the driver uses none of it.
        let answer = unsafe {
            self.library.module_load_data_ex(
                &raw mut raw,
                image.as_ptr().cast(),
                jit.count(),
                jit.options(),
                jit.values(),
            )
        };
        jit.fill_logs(options);
        answer?;
        // SAFETY: the driver gave this module out just now.
        Ok(unsafe { Module::from_raw(raw) })
    }

    pub(crate) fn module_unload(&self, module: Module) -> Result<()> {
        // SAFETY: a `Module` holds what the driver gave out; who made one from another number answered for it there.
        unsafe { self.library.module_unload(module.as_raw()) }
    }

    pub(crate) fn module_get_function(&self, module: Module, name: &str) -> Result<Function> {
        // No kernel has a name with a zero inside.
        let name = CString::new(name).map_err(|_| DriverError::refused(CuResult::NOT_FOUND))?;
        let mut raw = 0;
        // SAFETY: `cuModuleGetFunction` writes one `CUfunction` and reads a string that ends in zero; the module is as
        // in `module_unload`.
        unsafe { self.library.module_get_function(&raw mut raw, module.as_raw(), name.as_ptr()) }?;
        // SAFETY: the driver gave this function out just now.
        Ok(unsafe { Function::from_raw(raw) })
    }

    pub(crate) fn module_get_global(&self, module: Module, name: &str) -> Result<(DevicePtr, ByteSize)> {
        // No variable has a name with a zero inside.
        let name = CString::new(name).map_err(|_| DriverError::refused(CuResult::NOT_FOUND))?;
        let (mut start, mut size) = (0, 0);
        // SAFETY: `cuModuleGetGlobal_v2` writes one `CUdeviceptr` and one `size_t` and reads a string that ends in zero;
        // the module is as in `module_unload`.
        unsafe { self.library.module_get_global(&raw mut start, &raw mut size, module.as_raw(), name.as_ptr()) }?;
        Ok((DevicePtr::new(start), ByteSize::new(size)))
    }

    pub(crate) fn func_get_attribute(&self, attribute: FunctionAttribute, function: Function) -> Result<i32> {
        let mut value = 0;
        // SAFETY: `cuFuncGetAttribute` writes one `int`, and checks the attribute; a `Function` holds what the driver
        // gave out, and who made one from another number answered for it there.
        unsafe { self.library.func_get_attribute(&raw mut value, attribute.code(), function.as_raw()) }?;
        Ok(value)
    }
}

/// The image with the zero at the end by which the driver knows where PTX ends.
fn terminated(image: &[u8]) -> Vec<u8> {
    let mut terminated = Vec::with_capacity(image.len() + 1);
    terminated.extend_from_slice(image);
    terminated.push(0);
    terminated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_ends_in_zero() {
        assert_eq!(terminated(b".version 4.0"), b".version 4.0\0");
        assert_eq!(terminated(b""), b"\0");
    }
}
