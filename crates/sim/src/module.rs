//! Modules: PTX text becomes kernels that can be launched.

use std::sync::Arc;

use peermap_driver::{ByteSize, Call, DriverError, Function, FunctionAttribute, JitOptions, Module, Result};
use peermap_model::{FunctionInfo, ThreadId};
use peermap_ptx::ImageKind;

use crate::handle;
use crate::jit::Jit;
use crate::process::Inner;

impl Inner {
    pub(crate) fn module_load_data_ex(
        &self,
        thread: ThreadId,
        image: &[u8],
        options: &mut JitOptions,
    ) -> Result<Module> {
        let mut state = self.enter(Call::cuModuleLoadDataEx)?;
        let device = state.process.module_target(thread)?.clone();
        let jit = Jit { device: &device, newest: state.process.profile().ptx_version };
        let loaded = match ImageKind::of(image) {
            ImageKind::Ptx => jit.read(image, options)?,
            ImageKind::Cubin => return Err(DriverError::NotModelled { what: "a cubin".to_owned() }),
            ImageKind::Fatbin => return Err(DriverError::NotModelled { what: "a fat binary".to_owned() }),
            ImageKind::Unknown => return Err(Jit::not_recognized(image, options)),
        };
        let kernels = loaded.kernels().map_err(|error| DriverError::NotModelled { what: error.to_string() })?;
        let entries = loaded.module.entries().iter().zip(loaded.resources()).zip(kernels);
        let functions = entries
            .map(|((entry, resources), compiled)| {
                let code = state.code.add(entry, Arc::clone(compiled), &device);
                FunctionInfo { code, ..jit.describe(entry, resources, &loaded.module, options.max_registers) }
            })
            .collect();
        jit.tell(&loaded, options);
        self.load_with_data(&mut state, thread, &loaded, functions)
    }

    pub(crate) fn module_unload(&self, thread: ThreadId, module: Module) -> Result<()> {
        let plan = self.call(Call::cuModuleUnload, |process, _| process.module_unload_waits(thread, module))?;
        self.run(plan)?;
        self.resume(|process, outside| process.module_unload(outside, module))
    }

    pub(crate) fn module_get_function(&self, thread: ThreadId, module: Module, name: &str) -> Result<Function> {
        self.call(Call::cuModuleGetFunction, |process, _| process.module_get_function(thread, module, name))
            .map(handle::function)
    }

    pub(crate) fn func_get_attribute(
        &self,
        _: ThreadId,
        attribute: FunctionAttribute,
        function: Function,
    ) -> Result<i32> {
        self.call(Call::cuFuncGetAttribute, |process, _| process.func_get_attribute(attribute, function))
    }

    pub(crate) fn occupancy_max_active_blocks_per_multiprocessor(
        &self,
        _: ThreadId,
        function: Function,
        block_size: i32,
        dynamic_shared_bytes: ByteSize,
    ) -> Result<i32> {
        self.call(Call::cuOccupancyMaxActiveBlocksPerMultiprocessor, |process, _| {
            process.occupancy_max_active_blocks_per_multiprocessor(function, block_size, dynamic_shared_bytes)
        })
    }
}
