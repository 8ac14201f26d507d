//! Kernels of one module in a context, launched over so many things.

use peermap_driver::{ByteSize, Dim3, Driver, Function, JitOptions, KernelArg, LaunchConfig, Module, Result, Stream};

/// Threads of a block.
const BLOCK: u32 = 256;
/// The most blocks of a grid. Threads go round, so any number does.
const MOST_BLOCKS: u64 = 1024;

/// A module.
pub(crate) struct Code<'d> {
    driver: &'d dyn Driver,
    module: Module,
}

/// Blocks, and threads of a block.
#[derive(Clone, Copy)]
pub(crate) struct Shape(u32, u32);

impl Shape {
    pub(crate) const ONE_THREAD: Self = Self(1, 1);
    pub(crate) const ONE_BLOCK: Self = Self(1, BLOCK);

    /// A thread for each word, or fewer that go round.
    pub(crate) fn over(words: u64) -> Self {
        Self(words.div_ceil(u64::from(BLOCK)).clamp(1, MOST_BLOCKS) as u32, BLOCK)
    }
}

impl<'d> Code<'d> {
    /// Loads it. The logs in `options` are filled whether it succeeds or not.
    pub(crate) fn load(driver: &'d dyn Driver, image: &[u8], options: &mut JitOptions) -> Result<Self> {
        Ok(Self { driver, module: driver.module_load_data_ex(image, options)? })
    }

    /// A kernel of it.
    pub(crate) fn find(&self, name: &str) -> Result<Function> {
        self.driver.module_get_function(self.module, name)
    }

    /// Queues a kernel of it.
    ///
    /// # Safety
    /// As [`Driver::launch_kernel`]: `args` match the kernel's parameters in number and size.
    pub(crate) unsafe fn launch(
        &self,
        function: Function,
        stream: Stream,
        Shape(blocks, threads): Shape,
        args: &[KernelArg],
    ) -> Result<()> {
        let (grid, block) = (Dim3::x(blocks), Dim3::x(threads));
        let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream };
        // SAFETY: the caller vouches for the arguments.
        unsafe { self.driver.launch_kernel(&config, args) }
    }

    /// Unloads it.
    pub(crate) fn unload(self) -> Result<()> {
        self.driver.module_unload(self.module)
    }
}
