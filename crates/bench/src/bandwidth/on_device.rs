//! Work on memory of one device, piece by piece, for whoever times it.

use std::rc::Rc;

use peermap_driver::{ByteSize, Driver, JitOptions};
use peermap_scenario::{Author, Buffer, DeviceKernels, Fill, embedded_kernels};

use super::memory::{Memory, MemoryKind};
use super::timed::TimedStream;
use crate::error::BenchError;
use crate::rig::Rig;

/// What is done to memory of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceWork {
    /// The driver fills it with one byte.
    Memset,
    /// The kernel of the main job fills it with one byte.
    Fill,
    /// The kernel of the main job counts the bytes that are not the filled one.
    Verify,
    /// The driver copies it to other memory of the device.
    Copy,
}

impl DeviceWork {
    /// All of it, in the order in which each finds what it needs: a verification follows a fill.
    pub const ALL: [Self; 4] = [Self::Memset, Self::Fill, Self::Verify, Self::Copy];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memset => "cuMemsetD8Async",
            Self::Fill => "fill_id",
            Self::Verify => "verify_id",
            Self::Copy => "cuMemcpyDtoDAsync",
        }
    }
}

/// A piece of memory that the first device works on, another one that it copies it to, the kernels, and a stream on which the work is queued.
pub struct OnDevice<'r> {
    driver: &'r dyn Driver,
    size: ByteSize,
    times: u32,
    timed: Rc<TimedStream<'r>>,
    kernels: Option<DeviceKernels<'r>>,
    one: Memory<'r>,
    other: Memory<'r>,
}

impl<'r> OnDevice<'r> {
    /// The sizes that a full run measures.
    pub const SIZES: [ByteSize; 6] = [
        ByteSize::new(64 << 10),
        ByteSize::mib(1),
        ByteSize::mib(16),
        ByteSize::mib(64),
        ByteSize::mib(256),
        ByteSize::mib(1024),
    ];

    /// Who filled the memory, so that a verification finds nothing.
    const AUTHOR: Author = Author { worker: 7, step: 0 };

    /// Memory of this size on the device `home`, filled once, for work on a stream of the first device, made with the
    /// [driver](MemoryKind::driver) of its kind, whose context is current.
    ///
    /// # Errors
    /// [`BenchError::NotHere`] if simulated memory is not moved in such pieces; else if the driver refuses.
    pub fn new(
        rig: &'r Rig<'_>,
        timed: Rc<TimedStream<'r>>,
        size: ByteSize,
        kind: MemoryKind,
        home: usize,
    ) -> Result<Self, BenchError> {
        rig.can_move(size)?;
        let (driver, image) = (kind.driver(rig)?, embedded_kernels().as_bytes());
        let device = driver.device_get(0)?;
        let mut options = JitOptions::default();
        let kernels = DeviceKernels::load(driver, device, timed.stream, image, Fill::Id, &mut options)?;
        let (one, other) = (Memory::new(rig, size, kind, home)?, Memory::target(rig, size, kind)?);
        let memory =
            Self { driver, size, times: rig.repetitions(size.get()), timed, kernels: Some(kernels), one, other };
        memory.queue(DeviceWork::Fill)?;
        if let Some(kernels) = &memory.kernels {
            kernels.clear_findings()?;
        }
        Ok(memory)
    }

    /// How often the work is done in a row, so that what it takes to start it does not matter.
    #[must_use]
    pub const fn times(&self) -> u32 {
        self.times
    }

    /// How many bytes a row moves.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.size.get() * u64::from(self.times())
    }

    /// Queues work [so often](Self::times) in a row, which is what is timed.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn queue_row(&self, work: DeviceWork) -> peermap_driver::Result<()> {
        (0..self.times()).try_for_each(|_| self.queue(work))
    }

    /// Queues work once. To be done before a row is timed: the caches of the device then hold what this work leaves in them, and the
    /// row begins behind work that runs already.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn queue(&self, work: DeviceWork) -> peermap_driver::Result<()> {
        let Self { driver, size, timed, kernels: Some(kernels), one, other, .. } = self else { return Ok(()) };
        let buffer = Buffer { ptr: one.ptr(), size: *size };
        match work {
            DeviceWork::Memset => driver.memset_d8_async(buffer.ptr, 7, *size, timed.stream),
            DeviceWork::Fill => kernels.fill(buffer, Self::AUTHOR),
            DeviceWork::Verify => kernels.verify(buffer, Self::AUTHOR),
            DeviceWork::Copy => driver.memcpy_dtod_async(other.ptr(), buffer.ptr, *size, timed.stream),
        }
    }

    /// Waits, and refuses what was measured if a verification has found anything wrong since the memory was made.
    ///
    /// # Errors
    /// [`BenchError::Run`] with how many bytes were wrong.
    pub fn check(&self) -> Result<(), BenchError> {
        let findings = self.kernels.as_ref().map_or(Ok(None), DeviceKernels::findings)?;
        match findings {
            Some(findings) => Err(BenchError::Run(format!("{} bytes are wrong", findings.wrong_bytes))),
            None => Ok(()),
        }
    }
}

impl Drop for OnDevice<'_> {
    fn drop(&mut self) {
        if let Some(kernels) = self.kernels.take() {
            drop(kernels.unload());
        }
    }
}
