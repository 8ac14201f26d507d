//! Modules, kernels, occupancy, launches. What a kernel does is not known here: code is a number.

use std::sync::Arc;

use peermap_driver::{
    Argument, ByteSize, CallSite, DeviceAttribute, DevicePtr, Dim3, Function, FunctionAttribute, LaunchConfig, Module,
    Result,
};

use super::copy::Operation;
use super::occupancy::{limit, max_active_blocks, most_dynamic_shared, most_threads};
use super::queue::{Plan, Wait};
use super::{Outside, Process, ThreadId};
use crate::profile::DeviceProfile;
use crate::rules;

/// A loaded module.
#[derive(Debug)]
pub(super) struct ModuleState {
    pub(super) context: u64,
    code: ModuleCode,
    /// Where its variables start, if it has any.
    data: Option<DevicePtr>,
    site: CallSite,
}

/// A kernel that was asked for by name.
#[derive(Debug)]
pub(super) struct FunctionState {
    pub(super) context: u64,
    module: u64,
    info: FunctionInfo,
}

/// What is known of a kernel before it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: String,
    /// Its code, as whoever loaded it numbers it.
    pub code: u64,
    /// Registers of a thread.
    pub registers: u32,
    /// Static shared memory of a block.
    pub shared: ByteSize,
    /// Local memory of a thread.
    pub local: ByteSize,
    /// Constant memory of its module.
    pub constant: ByteSize,
    /// The most threads of a block that its text allows.
    pub max_threads: u32,
    /// The shape of a block that its text requires.
    pub required: Option<Dim3>,
    /// The architecture that its text is for, such as 90.
    pub ptx_version: u32,
}

/// What was loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleCode {
    /// Its kernels.
    pub functions: Vec<FunctionInfo>,
    /// Its variables that have names for the host.
    pub variables: Vec<VariableInfo>,
    /// How much memory all its variables take together.
    pub data: ByteSize,
}

/// A variable of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableInfo {
    /// Its name.
    pub name: String,
    /// Where it lies, counted from the start of all variables.
    pub offset: ByteSize,
    /// How large it is.
    pub size: ByteSize,
}

/// A module that was loaded just now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadedModule {
    /// Its raw value.
    pub module: u64,
    /// Where its variables start, and on which device: whoever loads it writes what they hold at first.
    pub data: Option<(usize, DevicePtr)>,
}

impl Process {
    /// Whether the calling thread may load a module now; gives the device that the code is for.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3.
    pub fn module_target(&self, thread: ThreadId) -> Result<&DeviceProfile> {
        let context = self.current(thread)?;
        Ok(&self.profile.devices[usize::from(self.visible[self.ordinal_of_context(context)])])
    }

    /// `cuModuleLoadDataEx`, after the image was read.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, ALLOC-2.
    pub fn module_load(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        code: ModuleCode,
    ) -> Result<LoadedModule> {
        let context = self.current(thread)?;
        let data = match code.data {
            ByteSize::ZERO => None,
            size => Some(self.allocate_for(outside, context, size)?),
        };
        let module = self.new_opaque();
        self.modules.insert(module, ModuleState { context, code, data, site: self.site });
        Ok(LoadedModule { module, data: data.map(|data| (self.ordinal_of_context(context), data)) })
    }

    /// Whether the variables of a module start at an address.
    pub(super) fn is_of_module(&self, ptr: DevicePtr) -> bool {
        self.modules.values().any(|module| module.data == Some(ptr))
    }

    /// What must have ended before `cuModuleUnload` goes on.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, MODULE-4.
    pub fn module_unload_waits(&mut self, thread: ThreadId, module: Module) -> Result<Plan> {
        self.current(thread)?;
        let context = self.module(module)?.context;
        Ok(self.plan(&Wait::Context(context)))
    }

    /// `cuModuleUnload`, after the work has ended.
    ///
    /// # Errors
    /// MODULE-4.
    pub fn module_unload(&mut self, outside: &mut Outside<'_>, module: Module) -> Result<()> {
        let data = self.module(module)?.data;
        self.modules.remove(&module.as_raw());
        self.functions.retain(|_, function| function.module != module.as_raw());
        data.map_or(Ok(()), |data| self.free_legacy(outside, data.get()))
    }

    fn module(&self, module: Module) -> Result<&ModuleState> {
        self.modules.get(&module.as_raw()).ok_or_else(|| rules::MODULE_4.refuse(&[("module", &module)], None))
    }

    /// `cuModuleGetFunction`: the raw value of the kernel.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, MODULE-4, MODULE-5.
    pub fn module_get_function(&mut self, thread: ThreadId, module: Module, name: &str) -> Result<u64> {
        self.current(thread)?;
        let state = self.module(module)?;
        let Some(info) = state.code.functions.iter().find(|function| function.name == name).cloned() else {
            return Err(rules::MODULE_5.refuse(&[("name", &name)], Some(state.site)));
        };
        let context = state.context;
        let known = self.functions.iter().find(|(_, known)| known.module == module.as_raw() && known.info == info);
        if let Some((function, _)) = known {
            return Ok(*function);
        }
        let function = self.new_opaque();
        self.functions.insert(function, FunctionState { context, module: module.as_raw(), info });
        Ok(function)
    }

    /// `cuModuleGetGlobal`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, MODULE-4, MODULE-7.
    pub fn module_get_global(&self, thread: ThreadId, module: Module, name: &str) -> Result<(DevicePtr, ByteSize)> {
        self.current(thread)?;
        let state = self.module(module)?;
        let variable = state.code.variables.iter().find(|variable| variable.name == name);
        match variable.zip(state.data) {
            Some((variable, data)) => Ok((DevicePtr::new(data.get() + variable.offset.get()), variable.size)),
            None => Err(rules::MODULE_7.refuse(&[("name", &name)], Some(state.site))),
        }
    }

    fn function(&self, function: Function) -> Result<&FunctionState> {
        self.functions.get(&function.as_raw()).ok_or_else(|| rules::MODULE_4.refuse(&[("function", &function)], None))
    }

    /// The code of a kernel.
    ///
    /// # Errors
    /// MODULE-4.
    pub fn function_code(&self, function: Function) -> Result<u64> {
        Ok(self.function(function)?.info.code)
    }

    /// `cuFuncGetAttribute`.
    ///
    /// # Errors
    /// MODULE-4, MODULE-6.
    pub fn func_get_attribute(&self, attribute: FunctionAttribute, function: Function) -> Result<i32> {
        let FunctionState { context, info, .. } = self.function(function)?;
        let device = self.device_of_context(*context);
        let capability = |name| device.attribute(name).unwrap_or(0);
        let bytes = |size: ByteSize| i64::try_from(size.get()).unwrap_or(i64::MAX);
        let value = match attribute {
            FunctionAttribute::MAX_THREADS_PER_BLOCK => i64::from(most_threads(device, info)),
            FunctionAttribute::SHARED_SIZE_BYTES => bytes(info.shared),
            FunctionAttribute::CONST_SIZE_BYTES => bytes(info.constant),
            FunctionAttribute::LOCAL_SIZE_BYTES => bytes(info.local),
            FunctionAttribute::NUM_REGS => i64::from(info.registers),
            FunctionAttribute::PTX_VERSION => i64::from(info.ptx_version),
            FunctionAttribute::BINARY_VERSION => {
                let major = capability(DeviceAttribute::COMPUTE_CAPABILITY_MAJOR);
                i64::from(10 * major + capability(DeviceAttribute::COMPUTE_CAPABILITY_MINOR))
            }
            other => return Err(rules::MODULE_6.refuse(&[("attribute", &other)], None)),
        };
        Ok(i32::try_from(value).unwrap_or(i32::MAX))
    }

    fn device_of_context(&self, context: u64) -> &DeviceProfile {
        &self.profile.devices[usize::from(self.visible[self.ordinal_of_context(context)])]
    }

    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
    ///
    /// # Errors
    /// MODULE-4, LAUNCH-1.
    pub fn occupancy_max_active_blocks_per_multiprocessor(
        &self,
        function: Function,
        block_size: i32,
        dynamic_shared: ByteSize,
    ) -> Result<i32> {
        let FunctionState { context, info, .. } = self.function(function)?;
        let device = self.device_of_context(*context);
        match u32::try_from(block_size) {
            Ok(threads) if threads > 0 => Ok(max_active_blocks(device, info, threads, dynamic_shared)),
            _ => Err(rules::LAUNCH_1.refuse(&[("block_size", &block_size)], None)),
        }
    }

    /// `cuLaunchKernel`, with the parameters as the kernel reads them.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, MODULE-4, LAUNCH-1 to LAUNCH-5.
    pub fn launch_kernel(&mut self, thread: ThreadId, config: &LaunchConfig, parameters: Arc<[u8]>) -> Result<()> {
        let key = self.stream_key(thread, config.stream)?;
        let FunctionState { info, module, .. } = self.function(config.function)?;
        let (info, data) = (info.clone(), self.modules.get(module).and_then(|module| module.data));
        let device = self.device_of_context(key.context);
        check_shape(device, &info, config)?;
        let operation = Operation::Kernel {
            ordinal: self.ordinal_of_context(key.context),
            code: info.code,
            grid: config.grid,
            block: config.block,
            shared: config.shared_bytes,
            parameters,
            data: data.unwrap_or(DevicePtr::NULL),
        };
        self.enqueue(key, operation);
        Ok(())
    }
}

fn check_shape(device: &DeviceProfile, info: &FunctionInfo, config: &LaunchConfig) -> Result<()> {
    let within = |shape: Dim3, most: [DeviceAttribute; 3]| {
        [shape.x, shape.y, shape.z]
            .into_iter()
            .zip(most)
            .all(|(count, most)| count > 0 && u64::from(count) <= limit(device, most))
    };
    let block = [DeviceAttribute::MAX_BLOCK_DIM_X, DeviceAttribute::MAX_BLOCK_DIM_Y, DeviceAttribute::MAX_BLOCK_DIM_Z];
    let grid = [DeviceAttribute::MAX_GRID_DIM_X, DeviceAttribute::MAX_GRID_DIM_Y, DeviceAttribute::MAX_GRID_DIM_Z];
    let asked = config.block.to_string();
    let asked = asked.as_str();
    if (!within(config.block, block) || config.block.count() > u128::from(info.max_threads)) && rules::LAUNCH_1.is_on()
    {
        return Err(rules::LAUNCH_1.refuse(&[("block", &asked)], None));
    }
    if !within(config.grid, grid) && rules::LAUNCH_2.is_on() {
        return Err(rules::LAUNCH_2.refuse(&[("grid", &config.grid.to_string().as_str())], None));
    }
    let most = most_dynamic_shared(device, info);
    if config.shared_bytes > most && rules::LAUNCH_3.is_on() {
        let facts: [(&str, &dyn Argument); 3] =
            [("static", &info.shared), ("dynamic", &config.shared_bytes), ("most", &most)];
        return Err(rules::LAUNCH_3.refuse(&facts, None));
    }
    if let Some(required) = info.required.filter(|required| *required != config.block)
        && rules::LAUNCH_5.is_on()
    {
        let required = required.to_string();
        return Err(rules::LAUNCH_5.refuse(&[("block", &asked), ("required", &required.as_str())], None));
    }
    let most = most_threads(device, info);
    if config.block.count() > u128::from(most) && rules::LAUNCH_4.is_on() {
        let facts: [(&str, &dyn Argument); 3] = [("block", &asked), ("registers", &info.registers), ("most", &most)];
        return Err(rules::LAUNCH_4.refuse(&facts, None));
    }
    Ok(())
}
