//! The kernels of `kernels/multicast.cu` in a context: loading and launching.

use peermap_driver::{
    ByteSize, DevicePtr, Dim3, Driver, Function, JitOptions, KernelArg, LaunchConfig, Module, Result, Stream,
};

use crate::device_kernels::Buffer;

/// Threads of a block, and the most blocks: each thread goes on until all is done.
const BLOCK: u32 = 256;
const MOST_BLOCKS: u32 = 1024;

/// What a thread stores or adds up at once, in bytes.
const WORD: u64 = 8;

/// The kernels, loaded into the current context.
pub(super) struct TeamKernels<'d> {
    driver: &'d dyn Driver,
    stream: Stream,
    module: Module,
    fill: Function,
    sum: Function,
    norm: Function,
}

/// Where the kernel of the norm finds what it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct NormPlaces {
    /// Where the norm goes.
    pub(super) norm: DevicePtr,
    /// The parts of all ranks, by the team.
    pub(super) parts: DevicePtr,
    /// The counter of arrivals, by this device alone.
    pub(super) counter: DevicePtr,
    /// The same, by the team.
    pub(super) counters: DevicePtr,
}

impl<'d> TeamKernels<'d> {
    /// Loads the kernels.
    pub(super) fn load(driver: &'d dyn Driver, stream: Stream, image: &[u8]) -> Result<Self> {
        let module = driver.module_load_data_ex(image, &mut JitOptions::default())?;
        let find = |name| driver.module_get_function(module, name);
        let (fill, sum) = (find("multicast_fill")?, find("multicast_sum")?);
        Ok(Self { driver, stream, module, fill, sum, norm: find("all_reduce_norm_barrier")? })
    }

    /// Queues the filling of a part of the team with a byte, up to the end of its last word.
    pub(super) fn fill(&self, team: Buffer, byte: u8) -> Result<()> {
        let word = u64::from_le_bytes([byte; 8]);
        let args = [KernelArg::Ptr(team.ptr), KernelArg::U64(whole_words(team.size)), KernelArg::U64(word)];
        self.launch(self.fill, blocks(team.size), &args)
    }

    /// Queues the sum of what all copies of the team hold, word by word.
    pub(super) fn sum(&self, team: Buffer, sum: DevicePtr) -> Result<()> {
        let args = [KernelArg::Ptr(team.ptr), KernelArg::Ptr(sum), KernelArg::U64(whole_words(team.size))];
        self.launch(self.sum, blocks(team.size), &args)
    }

    /// Queues the norm of what so many ranks have. The work does not end before all of them have queued it.
    pub(super) fn norm(&self, places: NormPlaces, ranks: u32) -> Result<()> {
        let NormPlaces { norm, parts, counter, counters } = places;
        let pointers = [norm, parts, counter, counters].map(KernelArg::Ptr);
        let args: Vec<KernelArg> = pointers.into_iter().chain([KernelArg::U32(ranks)]).collect();
        self.launch(self.norm, (1, 1), &args)
    }

    /// Unloads the kernels.
    pub(super) fn unload(self) -> Result<()> {
        self.driver.module_unload(self.module)
    }

    fn launch(&self, function: Function, (grid, block): (u32, u32), args: &[KernelArg]) -> Result<()> {
        let (grid, block) = (Dim3::x(grid), Dim3::x(block));
        let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream: self.stream };
        // SAFETY: the contract is that `args` match the kernel's parameters: `fill`, `sum` and `norm` list them in the order and
        // with the types of kernels/README.md.
        unsafe { self.driver.launch_kernel(&config, args) }
    }
}

/// The bytes of all words of which some bytes are used. A team has room for them: its size is a multiple of that.
fn whole_words(size: ByteSize) -> u64 {
    size.get().next_multiple_of(WORD)
}

/// Blocks and threads for so many bytes.
fn blocks(size: ByteSize) -> (u32, u32) {
    let words = size.get().div_ceil(WORD);
    let blocks = u32::try_from(words.div_ceil(BLOCK.into())).unwrap_or(MOST_BLOCKS);
    (blocks.clamp(1, MOST_BLOCKS), BLOCK)
}
