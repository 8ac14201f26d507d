//! The kernels of `kernels/memmap_ipc.cu` in a context: loading and launching.

use peermap_driver::{
    ByteSize, Device, DeviceAttribute, DevicePtr, Dim3, Driver, Function, JitOptions, KernelArg, LaunchConfig, Module,
    Result, Stream,
};

use crate::content::{Author, Content, Fill};

/// Threads of a block.
const BLOCK: u32 = 256;
/// What a block fills or verifies in one turn of its loop: see `kernels/README.md`.
const BLOCK_BYTES: u64 = 16 << 10;
/// How often the grid covers what the device holds at once. Measured on an H200 with 1 GiB: with 8 the fill reaches 97 % of
/// `cuMemsetD8Async`, with 1 it reaches 94 %.
const WAVES: u32 = 8;
/// Two 64-bit words: how many bytes are wrong, and the lowest wrong offset.
const FINDINGS_BYTES: usize = 16;

/// A piece of device memory.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    /// Where it begins.
    pub ptr: DevicePtr,
    /// How large it is.
    pub size: ByteSize,
}

impl Buffer {
    /// The address at an offset inside the buffer.
    pub fn at(self, offset: u64) -> DevicePtr {
        // Inside a buffer no sum goes past the end of the address space.
        self.ptr.checked_add(ByteSize::new(offset)).unwrap_or(self.ptr)
    }
}

/// What a verification found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Findings {
    /// How many bytes are wrong.
    pub wrong_bytes: u64,
    /// Where the first of them is.
    pub first_offset: u64,
}

/// The kernels for one kind of fill, loaded into the current context.
pub struct DeviceKernels<'d> {
    driver: &'d dyn Driver,
    stream: Stream,
    module: Module,
    kind: Fill,
    fill: Kernel,
    verify: Kernel,
    findings: DevicePtr,
}

/// A kernel and how many of its blocks the device holds at once.
struct Kernel {
    function: Function,
    resident_blocks: u32,
}

impl<'d> DeviceKernels<'d> {
    /// Loads the kernels. The logs in `options` are filled whether it succeeds or not.
    pub fn load(
        driver: &'d dyn Driver,
        device: Device,
        stream: Stream,
        image: &[u8],
        kind: Fill,
        options: &mut JitOptions,
    ) -> Result<Self> {
        let module = driver.module_load_data_ex(image, options)?;
        let (fill, verify) = match kind {
            Fill::Id => ("fill_id", "verify_id"),
            Fill::Pattern => ("fill_pattern", "verify_pattern"),
        };
        let fill = Kernel::find(driver, device, module, fill)?;
        let verify = Kernel::find(driver, device, module, verify)?;
        let findings = driver.mem_alloc(ByteSize::from(FINDINGS_BYTES))?;
        Ok(Self { driver, stream, module, kind, fill, verify, findings })
    }

    /// What a buffer of this author holds.
    pub(crate) fn content(&self, author: Author) -> Content {
        self.kind.content(author)
    }

    /// Queues the filling of a buffer in the name of an author.
    pub fn fill(&self, buffer: Buffer, author: Author) -> Result<()> {
        let mut args = vec![KernelArg::Ptr(buffer.ptr), KernelArg::U64(buffer.size.get())];
        args.extend(self.author_args(author));
        self.launch(&self.fill, buffer, &args)
    }

    /// Queues the reset of the findings, which every verification adds to.
    pub fn clear_findings(&self) -> Result<()> {
        // Two fills on the stream of the kernels: a copy from the host would be ordered with the null stream only, and our
        // stream does not wait for that one.
        let count = Buffer { ptr: self.findings, size: ByteSize::from(FINDINGS_BYTES) };
        self.driver.memset_d8_async(count.at(0), 0, ByteSize::new(8), self.stream)?;
        self.driver.memset_d8_async(count.at(8), 0xFF, ByteSize::new(8), self.stream)
    }

    /// Queues the comparison of a buffer with what its author filled it with.
    pub fn verify(&self, buffer: Buffer, author: Author) -> Result<()> {
        let mut args = vec![KernelArg::Ptr(buffer.ptr), KernelArg::U64(buffer.size.get())];
        args.extend(self.author_args(author));
        args.push(KernelArg::Ptr(self.findings));
        self.launch(&self.verify, buffer, &args)
    }

    /// Waits for the verifications queued since the findings were cleared. `None`: all is well.
    pub fn findings(&self) -> Result<Option<Findings>> {
        self.driver.stream_synchronize(self.stream)?;
        let mut bytes = [0; FINDINGS_BYTES];
        self.driver.memcpy_dtoh(&mut bytes, self.findings)?;
        let ([wrong, first], _) = bytes.as_chunks::<8>() else { return Ok(None) };
        let wrong_bytes = u64::from_le_bytes(*wrong);
        Ok((wrong_bytes > 0).then_some(Findings { wrong_bytes, first_offset: u64::from_le_bytes(*first) }))
    }

    /// Unloads the kernels.
    pub fn unload(self) -> Result<()> {
        self.driver.mem_free(self.findings)?;
        self.driver.module_unload(self.module)
    }

    fn author_args(&self, author: Author) -> Vec<KernelArg> {
        match self.kind {
            Fill::Id => vec![KernelArg::U8(author.id())],
            Fill::Pattern => vec![KernelArg::U32(author.worker), KernelArg::U32(author.step)],
        }
    }

    fn launch(&self, kernel: &Kernel, buffer: Buffer, args: &[KernelArg]) -> Result<()> {
        let config = LaunchConfig {
            function: kernel.function,
            grid: Dim3::x(kernel.grid(buffer.size)),
            block: Dim3::x(BLOCK),
            shared_bytes: ByteSize::ZERO,
            stream: self.stream,
        };
        // SAFETY: the contract is that `args` match the kernel's parameters: `fill` and `verify` list them in the order and
        // with the types of kernels/README.md, and `kind` chose both the kernel and the arguments in the middle.
        unsafe { self.driver.launch_kernel(&config, args) }
    }
}

impl Kernel {
    /// Finds a kernel and asks how much of it fits the device at once, as the sample does.
    fn find(driver: &dyn Driver, device: Device, module: Module, name: &str) -> Result<Self> {
        let function = driver.module_get_function(module, name)?;
        let blocks =
            driver.occupancy_max_active_blocks_per_multiprocessor(function, BLOCK.cast_signed(), ByteSize::ZERO)?;
        let multiprocessors = driver.device_get_attribute(DeviceAttribute::MULTIPROCESSOR_COUNT, device)?;
        let count = |number: i32| u32::try_from(number).unwrap_or(0);
        Ok(Self { function, resident_blocks: count(blocks).saturating_mul(count(multiprocessors)).max(1) })
    }

    /// Some times as many blocks as the device holds at once, or as the buffer keeps busy if that is less.
    fn grid(&self, size: ByteSize) -> u32 {
        let busy = u32::try_from(size.get().div_ceil(BLOCK_BYTES)).unwrap_or(u32::MAX);
        self.resident_blocks.saturating_mul(WAVES).min(busy).max(1)
    }
}
