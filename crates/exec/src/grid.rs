//! Blocks over cores.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use peermap_memory::View;
use rustix::thread::sched_getaffinity;

use crate::block::frame::{Frame, Special, thread_of};
use crate::block::run::{Block, Ended, Limit, Progress, Setting};
use crate::check::{Checks, History, Origins, Watch};
use crate::error::Stop;
use crate::kernel::Program;

/// Three numbers: x, y and z.
pub type Dim = [u32; 3];

/// What a kernel is launched with.
#[derive(Clone, Copy)]
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
    /// Where the variables of the module start; what they hold is [`ModuleData::image`](crate::ModuleData::image).
    pub data: u64,
    /// How long the kernel may run.
    pub most: Duration,
    /// How many blocks the device can run at once. So many are started, one after the other, if those that have started
    /// wait for something.
    pub resident: usize,
    /// Called over and over while all blocks that have started wait for something: whatever they wait for should happen
    /// meanwhile.
    pub meanwhile: &'p (dyn Fn() + Sync),
    /// Called with what a thread prints, a call of `vprintf` at a time.
    pub print: &'p (dyn Fn(&[u8]) + Sync),
    /// What to look for while the kernel runs.
    pub checks: Checks,
    /// What launches did that may run at the same time, for checks; `None`: there are none.
    pub history: Option<&'p History>,
    /// The addresses of the buffer that an address lies in. [`Check::Bounds`](crate::Check::Bounds) asks for those of
    /// arguments.
    pub buffer: &'p (dyn Fn(u64) -> Option<Range<u64>> + Sync),
}

impl<'p> Launch<'p> {
    /// A launch without shared memory of its own and without module variables, on a device with one multiprocessor, that
    /// may take a minute, prints nothing, is not checked, and has nothing happen meanwhile.
    #[must_use]
    pub fn new(grid: Dim, block: Dim, parameters: &'p [u8]) -> Self {
        Self {
            grid,
            block,
            shared_bytes: 0,
            multiprocessors: Multiprocessors { count: 1, warps: 64 },
            parameters,
            data: 0,
            most: Duration::from_secs(60),
            resident: 64,
            meanwhile: &|| {},
            print: &|_| {},
            checks: Checks::NONE,
            history: None,
            buffer: &|_| None,
        }
    }
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
    setting: Setting<'l>,
    launch: &'l Launch<'l>,
    blocks: u64,
    next: AtomicU64,
    resting: Mutex<Resting<'l>>,
    /// `%gridid`.
    grid_id: u64,
    /// The first block, of those that ended badly, and how.
    stop: Mutex<Option<(u64, Stop)>>,
}

/// Blocks that have started and wait for something.
#[derive(Default)]
struct Resting<'l> {
    blocks: VecDeque<Block<'l>>,
    /// How many of them rested again since something else happened.
    in_vain: usize,
}

/// What one core keeps for the blocks that it runs.
#[derive(Default)]
struct Core {
    frames: Vec<Frame>,
    scratch: Vec<u8>,
}

/// How many cores this thread may use. Unlike [`thread::available_parallelism`] it reads no files for that.
fn cores() -> usize {
    sched_getaffinity(None).map_or(1, |cores| cores.count() as usize)
}

/// Runs all blocks.
pub(crate) fn run_all(
    program: &Program,
    launch: &Launch<'_>,
    view: View<'_>,
    origins: Option<&Origins>,
) -> Result<(), Box<Stop>> {
    let blocks = launch.grid.iter().map(|blocks| u64::from(*blocks)).product();
    let limit = Limit { start: Instant::now(), most: launch.most, stopped: AtomicU64::new(u64::MAX) };
    let alone = History::default();
    let watch = Watch::new(program, launch, origins, launch.history.unwrap_or(&alone));
    let shared = Shared {
        setting: Setting { program, view, limit: &limit, print: launch.print, watch: watch.as_ref() },
        launch,
        blocks,
        next: AtomicU64::new(0),
        resting: Mutex::default(),
        grid_id: LAUNCHES.fetch_add(1, Ordering::Relaxed) + 1,
        stop: Mutex::new(None),
    };
    let cores = if watch.is_some() { 1 } else { cores() };
    let helpers = (blocks.div_ceil(BLOCKS_AT_A_TIME) as usize).min(cores).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| shared.work());
        }
        shared.work();
    });
    let stop = shared.stop.into_inner().unwrap_or_else(PoisonError::into_inner);
    stop.map_or(Ok(()), |(_, stop)| Err(Box::new(stop)))
}

impl<'l> Shared<'l> {
    fn work(&self) {
        let mut core = Core::default();
        loop {
            let has_room = self.resting().blocks.len() < self.launch.resident;
            let first = if has_room { self.next.fetch_add(BLOCKS_AT_A_TIME, Ordering::Relaxed) } else { self.blocks };
            self.run_side_by_side(first..(first + BLOCKS_AT_A_TIME).min(self.blocks), &mut core);
            if first >= self.blocks && !self.resume(&mut core) {
                return;
            }
        }
    }

    /// Runs neighbouring blocks; those of a light program each once round a loop in turn.
    fn run_side_by_side(&self, mut numbers: Range<u64>, core: &mut Core) {
        let at_a_time = if self.setting.program.is_light { numbers.clone().count() } else { 1 };
        let mut going = Vec::with_capacity(at_a_time);
        while !numbers.is_empty() {
            let starting = numbers.by_ref().take(at_a_time);
            going.extend(
                starting.map(|number| Some(Block::new(number, self.frame(number, core), self.setting.program))),
            );
            while !going.is_empty() {
                for slot in &mut going {
                    let Some(block) = slot else { continue };
                    let progress = self.advance(block, core);
                    if progress != Some(Progress::ComesRound)
                        && let Some(block) = slot.take()
                    {
                        self.leave(block, progress, core);
                    }
                }
                going.retain(Option::is_some);
            }
        }
    }

    /// Runs a block that rests; false if there is none.
    fn resume(&self, core: &mut Core) -> bool {
        let mut resting = self.resting();
        let Some(mut block) = resting.blocks.pop_front() else { return false };
        if resting.in_vain > resting.blocks.len() {
            resting.in_vain = 0;
            drop(resting);
            (self.launch.meanwhile)();
        } else {
            drop(resting);
        }
        let limit = self.setting.limit;
        if limit.start.elapsed() > limit.most {
            self.note(&block, block.out_of_time(self.setting));
        } else {
            let progress = self.advance(&mut block, core);
            self.leave(block, progress, core);
        }
        true
    }

    /// Lets a block run on; `None` if it has ended badly, or need not run.
    fn advance(&self, block: &mut Block<'l>, core: &mut Core) -> Option<Progress> {
        if self.setting.limit.is_past(block.number) {
            return None;
        }
        block.run(self.setting, &mut core.scratch).map_err(|ended| self.note(block, ended)).ok()
    }

    /// Puts a block aside that rests, and takes the frame of one that has ended.
    fn leave(&self, block: Block<'l>, progress: Option<Progress>, core: &mut Core) {
        let mut resting = self.resting();
        if matches!(progress, Some(Progress::Rests | Progress::ComesRound)) {
            resting.blocks.push_back(block);
            resting.in_vain += usize::from(progress == Some(Progress::Rests));
        } else {
            resting.in_vain = 0;
            drop(resting);
            if let Some(watch) = self.setting.watch {
                watch.ended(block.number);
            }
            core.frames.push(block.frame);
        }
    }

    fn resting(&self) -> MutexGuard<'_, Resting<'l>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A frame for a block: one that another block needs no more, or a new one.
    fn frame(&self, number: u64, core: &mut Core) -> Frame {
        let mut frame = core.frames.pop().unwrap_or_else(|| self.new_frame());
        for (special, part) in
            [Special::CtaidX, Special::CtaidY, Special::CtaidZ].into_iter().zip(block_of(number, self.launch.grid))
        {
            frame.set_special(special, part);
        }
        // Blocks go round: hardware gives the next one to whichever is free.
        frame.set_special(Special::Multiprocessor, number % u64::from(self.launch.multiprocessors.count.max(1)));
        frame.spaces.clear();
        frame
    }

    fn new_frame(&self) -> Frame {
        let mut frame = Frame::new(self.setting.program.size, self.launch);
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
        frame
    }

    /// Keeps how a block ended, if it is the first of those that ended badly.
    fn note(&self, block: &Block<'_>, ended: Ended) {
        let Ended::Badly { instruction, lane, cause } = ended else { return };
        let program = self.setting.program;
        let stop = Stop {
            kernel: program.name.clone(),
            block: block_of(block.number, self.launch.grid),
            thread: thread_of(lane, self.launch.block),
            line: program.line(instruction),
            cause,
        };
        self.setting.limit.stopped.fetch_min(block.number, Ordering::Relaxed);
        let mut first = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(before, _)| block.number < *before) {
            *first = Some((block.number, stop));
        }
    }
}

/// Where the block of a number lies in the grid: x first.
pub(crate) fn block_of(number: u64, grid: Dim) -> Dim {
    let [x, y, _] = grid.map(u64::from);
    [number % x, number / x % y, number / (x * y)].map(|part| part as u32)
}
