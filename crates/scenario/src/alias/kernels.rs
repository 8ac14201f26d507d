//! The kernels of `kernels/alias.cu` in a context.

use peermap_driver::{ByteSize, Dim3, Driver, Function, JitOptions, KernelArg, LaunchConfig, Module, Result, Stream};

/// Threads of a block.
const BLOCK: u32 = 256;
/// The most blocks of a grid. Threads go round, so any number does.
const MOST_BLOCKS: u64 = 1024;

/// The kernels, loaded.
pub(super) struct Kernels<'d> {
    driver: &'d dyn Driver,
    module: Module,
    pub(super) foo: Function,
    pub(super) foo_fenced: Function,
    pub(super) foo1: Function,
    pub(super) foo2: Function,
    pub(super) early_reader: Function,
    pub(super) await_reader: Function,
}

/// Blocks, and threads of a block.
#[derive(Clone, Copy)]
pub(super) struct Shape(u32, u32);

impl Shape {
    pub(super) const ONE_THREAD: Self = Self(1, 1);
    pub(super) const ONE_BLOCK: Self = Self(1, BLOCK);

    /// A thread for each word, or fewer that go round.
    pub(super) fn over(words: u64) -> Self {
        Self(words.div_ceil(u64::from(BLOCK)).clamp(1, MOST_BLOCKS) as u32, BLOCK)
    }
}

impl<'d> Kernels<'d> {
    /// Loads them. The logs in `options` are filled whether it succeeds or not.
    pub(super) fn load(driver: &'d dyn Driver, image: &[u8], options: &mut JitOptions) -> Result<Self> {
        let module = driver.module_load_data_ex(image, options)?;
        let find = |name| driver.module_get_function(module, name);
        Ok(Self {
            driver,
            module,
            foo: find("foo")?,
            foo_fenced: find("foo_fenced")?,
            foo1: find("foo1")?,
            foo2: find("foo2")?,
            early_reader: find("early_reader")?,
            await_reader: find("await_reader")?,
        })
    }

    /// Queues a kernel with the arguments that it declares.
    pub(super) fn launch(
        &self,
        function: Function,
        stream: Stream,
        Shape(blocks, threads): Shape,
        args: &[KernelArg],
    ) -> Result<()> {
        let (grid, block) = (Dim3::x(blocks), Dim3::x(threads));
        let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream };
        // SAFETY: the contract is that `args` match the kernel's parameters: `stage.rs` lists them in the order and with the
        // types of kernels/README.md.
        unsafe { self.driver.launch_kernel(&config, args) }
    }

    /// Unloads them.
    pub(super) fn unload(self) -> Result<()> {
        self.driver.module_unload(self.module)
    }
}
