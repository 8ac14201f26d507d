//! Variables of modules, in device memory.

use peermap_driver::{ByteSize, Call, DevicePtr, DriverError, Module, Result};
use peermap_exec::ModuleData;
use peermap_model::{FunctionInfo, ModuleCode, Outside, ThreadId, VariableInfo};
use peermap_ptx::Module as PtxModule;

use crate::handle;
use crate::library::Loaded;
use crate::process::{Inner, State};
use crate::tables::Tables;

impl Inner {
    /// Loads a module whose kernels are known, and gives its variables their first values.
    pub(crate) fn load_with_data(
        &self,
        state: &mut State,
        thread: ThreadId,
        loaded: &Loaded,
        functions: Vec<FunctionInfo>,
    ) -> Result<Module> {
        let not_modelled = |error: peermap_exec::CompileError| DriverError::NotModelled { what: error.to_string() };
        let data = ModuleData::of(&loaded.module).map_err(not_modelled)?;
        let code =
            ModuleCode { functions, variables: variables(&loaded.module, &data), data: ByteSize::new(data.size()) };
        let State { process, link, .. } = state;
        let mut tables = Tables(&self.memory.tables);
        let placed = process.module_load(&mut Outside { machine: &mut **link, tables: &mut tables }, thread, code)?;
        if let Some((ordinal, start)) = placed.data {
            let image = data.image(&loaded.module, start.get());
            let written = self.memory.view(ordinal).write(start.get(), &image);
            written.map_err(|fault| DriverError::Host { what: fault.to_string() })?;
        }
        Ok(handle::module(placed.module))
    }

    pub(crate) fn module_get_global(
        &self,
        thread: ThreadId,
        module: Module,
        name: &str,
    ) -> Result<(DevicePtr, ByteSize)> {
        self.call(Call::cuModuleGetGlobal, |process, _| process.module_get_global(thread, module, name))
    }
}

/// The variables that the host can ask for.
fn variables(module: &PtxModule, data: &ModuleData) -> Vec<VariableInfo> {
    let known = module.variables().iter().enumerate().filter(|(_, variable)| !variable.in_function);
    let placed = known.filter_map(|(number, variable)| Some((data.offset(number)?, variable)));
    placed
        .map(|(offset, variable)| VariableInfo {
            name: variable.name.clone(),
            offset: ByteSize::new(offset),
            size: ByteSize::new(variable.size),
        })
        .collect()
}
