//! The kernels of the recordings, loaded where they are launched.

use peermap_driver::{Context, Driver, Function, JitOptions, Module, Result};

/// The kernels that the recorder launched, as it loaded them.
pub(crate) const PTX: &str = include_str!("../../../../fixtures/traces/kernels.ptx");

/// The modules that a process has loaded, one per context.
#[derive(Default)]
pub(super) struct Modules {
    loaded: Vec<(Option<Context>, Module)>,
}

impl Modules {
    /// A kernel in the current context. The first one in a context loads the module.
    pub(super) fn function(&mut self, driver: &dyn Driver, kernel: &str) -> Result<Function> {
        let context = driver.ctx_get_current()?;
        let found = self.loaded.iter().find(|(owner, _)| *owner == context).map(|(_, module)| *module);
        let module = match found {
            Some(module) => module,
            None => {
                let module = driver.module_load_data_ex(PTX.as_bytes(), &mut JitOptions::default())?;
                self.loaded.push((context, module));
                module
            }
        };
        driver.module_get_function(module, kernel)
    }

    /// Forgets the module of a context that is gone, so that the next context with its handle loads anew.
    pub(super) fn forget(&mut self, context: Context) {
        self.loaded.retain(|(owner, _)| *owner != Some(context));
    }

    /// Unloads every module and gives the first error.
    pub(super) fn unload(&mut self, driver: &dyn Driver) -> Result<()> {
        self.loaded.drain(..).map(|(_, module)| driver.module_unload(module)).fold(Ok(()), Result::and)
    }
}
