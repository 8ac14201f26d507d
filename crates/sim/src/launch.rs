//! Launches.

use peermap_driver::{Call, DriverError, KernelArg, LaunchConfig, Result};
use peermap_model::ThreadId;

use crate::process::Inner;

impl Inner {
    /// # Safety
    /// As [`peermap_driver::Driver::launch_kernel`]. Here the arguments are checked against the kernel's parameters.
    pub(crate) unsafe fn launch_kernel(
        &self,
        thread: ThreadId,
        config: &LaunchConfig,
        args: &[KernelArg],
    ) -> Result<()> {
        let mut state = self.enter(Call::cuLaunchKernel)?;
        state.process.check_fault()?;
        let code = state.process.function_code(config.function)?;
        let Some(kernel) = state.code.get(code) else {
            return Err(DriverError::NotModelled { what: format!("code {code}") });
        };
        let parameters = kernel.parameters(args)?;
        state.process.launch_kernel(thread, config, parameters)
    }
}
