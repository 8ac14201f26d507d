//! Modules: PTX text becomes kernels that can be launched.

use std::sync::Arc;

use peermap_driver::{
    ByteSize, Call, DeviceAttribute, DriverError, Function, FunctionAttribute, JitOptions, Module, Result,
};
use peermap_model::{DeviceProfile, FunctionInfo, ModuleCode, ThreadId, rules};
use peermap_ptx::{Entry, ImageKind, Module as PtxModule, PtxError, PtxProblem};

use crate::handle;
use crate::library::{self, Loaded};
use crate::process::Inner;

/// Registers that a thread of a simulated kernel is taken to need where nothing limits them.
const ASSUMED_REGISTERS: u32 = 32;

impl Inner {
    pub(crate) fn module_load_data_ex(
        &self,
        thread: ThreadId,
        image: &[u8],
        options: &mut JitOptions,
    ) -> Result<Module> {
        let mut state = self.enter(Call::cuModuleLoadDataEx)?;
        let device = state.process.module_target(thread)?.clone();
        let newest = state.process.profile().ptx_version;
        let loaded = match ImageKind::of(image) {
            ImageKind::Ptx => read_ptx(image, &device, newest, options)?,
            ImageKind::Cubin => return Err(DriverError::NotModelled { what: "a cubin".to_owned() }),
            ImageKind::Fatbin => return Err(DriverError::NotModelled { what: "a fat binary".to_owned() }),
            ImageKind::Unknown => return Err(rules::MODULE_3.refuse(&[("bytes", &ByteSize::from(image.len()))], None)),
        };
        let module = &loaded.module;
        let kernels = loaded.kernels().map_err(|error| DriverError::NotModelled { what: error.to_string() })?;
        let registers = options.max_registers.map_or(ASSUMED_REGISTERS, |most| most.min(ASSUMED_REGISTERS));
        let functions = module
            .entries()
            .iter()
            .zip(kernels)
            .map(|(entry, compiled)| {
                let code = state.code.add(entry, Arc::clone(compiled));
                describe(entry, module, &device, registers, code)
            })
            .collect();
        if let Some(log) = &mut options.info_log {
            log.fill(&format!(
                "simulated: {} entries for {}, {registers} registers assumed\n",
                module.entries().len(),
                module.target()
            ));
        }
        state.process.module_load(thread, ModuleCode { functions }).map(handle::module)
    }

    pub(crate) fn module_unload(&self, thread: ThreadId, module: Module) -> Result<()> {
        let plan = self.call(Call::cuModuleUnload, |process, _| process.module_unload_waits(thread, module))?;
        self.run(plan)?;
        self.resume(|process, _| process.module_unload(module))
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

/// Reads PTX as the driver of a device would; what is wrong goes to the error log.
fn read_ptx(image: &[u8], device: &DeviceProfile, newest: (u8, u8), options: &mut JitOptions) -> Result<Arc<Loaded>> {
    let image = image.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut refuse = |rule: &'static peermap_model::Rule, problem: String| {
        if let Some(log) = &mut options.error_log {
            log.fill(&format!("ptxas application ptx input, {problem}\n"));
        }
        Err(rule.refuse(&[("problem", &problem.as_str())], None))
    };
    let text = match std::str::from_utf8(image) {
        Ok(text) => text,
        Err(error) => return refuse(&rules::MODULE_1, error.to_string()),
    };
    let mut refuse_text = |error: PtxError| match error.problem {
        // Whatever does not begin like PTX is taken for some other kind of code.
        PtxProblem::MissingHeader { directive: ".version", .. } => refuse(&rules::MODULE_3, error.to_string()),
        _ => refuse(&rules::MODULE_1, error.to_string()),
    };
    let (major, minor) = match PtxModule::read_version(text) {
        Ok(version) => version,
        Err(error) => return refuse_text(error),
    };
    if (major, minor) > newest {
        let (most, least) = newest;
        let problem =
            format!("line 1; fatal   : Unsupported .version {major}.{minor}; current version is '{most}.{least}'");
        return refuse(&rules::MODULE_2, problem);
    }
    let loaded = match library::read(text) {
        Ok(loaded) => loaded,
        Err(error) => return refuse_text(error),
    };
    let capability = |attribute| device.attribute(attribute).and_then(|part| u32::try_from(part).ok()).unwrap_or(0);
    let has = 10 * capability(DeviceAttribute::COMPUTE_CAPABILITY_MAJOR)
        + capability(DeviceAttribute::COMPUTE_CAPABILITY_MINOR);
    match loaded.module.sm() {
        Some(needs) if needs > has => refuse(
            &rules::MODULE_1,
            format!("fatal   : SM version {needs} of .target is above the {has} of this device"),
        ),
        _ => Ok(loaded),
    }
}

fn describe(entry: &Entry, module: &PtxModule, device: &DeviceProfile, registers: u32, code: u64) -> FunctionInfo {
    let device_limit = device.attribute(DeviceAttribute::MAX_THREADS_PER_BLOCK);
    let device_limit = device_limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(1);
    let declared = entry
        .directive(".maxntid")
        .or_else(|| entry.directive(".reqntid"))
        .map_or(device_limit, |threads| threads.iter().product());
    let (major, minor) = module.version();
    FunctionInfo {
        name: entry.name.clone(),
        code,
        registers,
        shared: ByteSize::ZERO,
        max_threads: declared.min(device_limit),
        ptx_version: 10 * u32::from(major) + u32::from(minor),
    }
}
