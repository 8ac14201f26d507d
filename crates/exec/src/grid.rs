//! Blocks over cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use peermap_memory::View;

use crate::block::frame::{Frame, Special, thread_of};
use crate::block::run::{Ended, Limit, run};
use crate::error::Stop;
use crate::kernel::Program;

/// Three numbers: x, y and z.
pub type Dim = [u32; 3];

/// What a kernel is launched with.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'p> {
    /// The blocks of the grid.
    pub grid: Dim,
    /// The threads of a block, 1,024 at most.
    pub block: Dim,
    /// The shared memory that is added to what the kernel declares.
    ///
    /// # Units
    /// Bytes.
    pub shared_bytes: u32,
    /// What special registers say of the device.
    pub multiprocessors: Multiprocessors,
    /// The parameters, as the kernel reads them.
    pub parameters: &'p [u8],
    /// How long the kernel may run.
    pub most: Duration,
}

/// The multiprocessors of the device that a kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiprocessors {
    /// How many there are.
    pub count: u32,
    /// How many warps each can hold.
    pub warps: u32,
}

/// The launches of this OS process so far.
static LAUNCHES: AtomicU64 = AtomicU64::new(0);

/// Blocks that a core takes at a time.
const BLOCKS_AT_A_TIME: u64 = 16;

/// The work of a launch as the cores share it.
struct Shared<'l> {
    program: &'l Program,
    launch: &'l Launch<'l>,
    view: View<'l>,
    blocks: u64,
    next: AtomicU64,
    limit: Limit,
    /// `%gridid`.
    grid_id: u64,
    /// The first block, of those that ended badly, and how.
    stop: Mutex<Option<(u64, Stop)>>,
}

/// Runs all blocks.
pub(crate) fn run_all(program: &Program, launch: &Launch<'_>, view: View<'_>) -> Result<(), Box<Stop>> {
    let blocks = launch.grid.iter().map(|blocks| u64::from(*blocks)).product();
    let limit = Limit { start: Instant::now(), most: launch.most, stopped: AtomicU64::new(u64::MAX) };
    let (next, stop) = (AtomicU64::new(0), Mutex::new(None));
    let grid_id = LAUNCHES.fetch_add(1, Ordering::Relaxed) + 1;
    let shared = Shared { program, launch, view, blocks, next, limit, grid_id, stop };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let helpers = (blocks.div_ceil(BLOCKS_AT_A_TIME) as usize).min(cores).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| shared.work());
        }
        shared.work();
    });
    let stop = shared.stop.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    stop.map_or(Ok(()), |(_, stop)| Err(Box::new(stop)))
}

impl Shared<'_> {
    fn work(&self) {
        let mut frame = Frame::new(self.program.size, self.launch.block, self.launch.parameters);
        let dimensions = [
            (Special::NtidX, self.launch.block[0]),
            (Special::NtidY, self.launch.block[1]),
            (Special::NtidZ, self.launch.block[2]),
            (Special::NctaidX, self.launch.grid[0]),
            (Special::NctaidY, self.launch.grid[1]),
            (Special::NctaidZ, self.launch.grid[2]),
            (Special::DynamicShared, self.launch.shared_bytes),
            (Special::Multiprocessors, self.launch.multiprocessors.count),
            (Special::Warps, self.launch.multiprocessors.warps),
        ];
        dimensions.into_iter().for_each(|(special, value)| frame.set_special(special, value));
        frame.set_special(Special::GridId, self.grid_id);
        let mut scratch = Vec::new();
        loop {
            let first = self.next.fetch_add(BLOCKS_AT_A_TIME, Ordering::Relaxed);
            let last = (first + BLOCKS_AT_A_TIME).min(self.blocks);
            for block in first..last {
                if self.limit.is_past(block) {
                    return;
                }
                self.block(block, &mut frame, &mut scratch);
            }
            if last == self.blocks || first >= self.blocks {
                return;
            }
        }
    }

    fn block(&self, number: u64, frame: &mut Frame, scratch: &mut Vec<u8>) {
        let block = self.block_id(number);
        for (special, part) in [Special::CtaidX, Special::CtaidY, Special::CtaidZ].into_iter().zip(block) {
            frame.set_special(special, part);
        }
        // Blocks go round: hardware gives the next one to whichever is free.
        frame.set_special(Special::Multiprocessor, number % u64::from(self.launch.multiprocessors.count.max(1)));
        if let Err(Ended::Badly { instruction, lane, cause }) =
            run(self.program, number, frame, self.view, &self.limit, scratch)
        {
            let stop = Stop {
                kernel: self.program.name.clone(),
                block,
                thread: thread_of(lane, self.launch.block),
                line: self.program.line(instruction),
                cause,
            };
            self.limit.stopped.fetch_min(number, Ordering::Relaxed);
            let mut first = self.stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if first.as_ref().is_none_or(|(before, _)| number < *before) {
                *first = Some((number, stop));
            }
        }
    }

    fn block_id(&self, number: u64) -> Dim {
        let [x, y, _] = self.launch.grid.map(u64::from);
        [number % x, number / x % y, number / (x * y)].map(|part| part as u32)
    }
}
