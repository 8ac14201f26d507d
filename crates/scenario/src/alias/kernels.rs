//! The kernels of `kernels/alias.cu` in a context.

use peermap_driver::{Driver, Function, JitOptions, KernelArg, Result, Stream};

use crate::code::{Code, Shape};

/// The kernels, loaded.
pub(super) struct Kernels<'d> {
    code: Code<'d>,
    pub(super) unfenced: Function,
    pub(super) fenced: Function,
    pub(super) writer: Function,
    pub(super) reader: Function,
    pub(super) early_reader: Function,
    pub(super) await_reader: Function,
}

impl<'d> Kernels<'d> {
    /// Loads them. The logs in `options` are filled whether it succeeds or not.
    pub(super) fn load(driver: &'d dyn Driver, image: &[u8], options: &mut JitOptions) -> Result<Self> {
        let code = Code::load(driver, image, options)?;
        Ok(Self {
            unfenced: code.find("foo")?,
            fenced: code.find("foo_fenced")?,
            writer: code.find("foo1")?,
            reader: code.find("foo2")?,
            early_reader: code.find("early_reader")?,
            await_reader: code.find("await_reader")?,
            code,
        })
    }

    /// Queues a kernel with the arguments that it declares.
    pub(super) fn launch(&self, function: Function, stream: Stream, shape: Shape, args: &[KernelArg]) -> Result<()> {
        // SAFETY: the contract is that `args` match the kernel's parameters: `stage.rs` lists them in the order and with the
        // types of kernels/README.md.
        unsafe { self.code.launch(function, stream, shape, args) }
    }

    /// Unloads them.
    pub(super) fn unload(self) -> Result<()> {
        self.code.unload()
    }
}
