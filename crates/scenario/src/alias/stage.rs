//! What the cases are played with, and how each is played.

use peermap_driver::{ByteSize, Context, DevicePtr, Driver, Event, KernelArg, PinnedBuffer, Result, Stream};

use super::Case;
use super::kernels::Kernels;
use super::twice::Twice;
use crate::code::Shape;

/// Word `i` of what a kernel writes is this and `i`.
const WRITTEN: u64 = 2 << 48;
/// The same of what was there before.
const BEFORE: u64 = 1 << 48;
/// How much of the buffer is copied from the host and back.
const COPIED: ByteSize = ByteSize::mib(4);
/// How long a kernel waits for another, in nanoseconds: what does not run beside it by then will not.
const PATIENCE_NS: u64 = 10_000_000_000;

/// Memory that is not mapped twice, for what kernels tell: how many words were as written, how many as before; then three
/// flags of 32 bits, whether the reader runs, whether the writer has ended, whether it was so in time.
const TOLD: ByteSize = ByteSize::new(32);
const FLAGS: u64 = 16;
const WRITER_ENDED: u64 = FLAGS + 4;
const IN_TIME: u64 = FLAGS + 8;

/// A context with everything that a case needs.
pub(super) struct Stage<'d> {
    pub(super) driver: &'d dyn Driver,
    pub(super) context: Context,
    pub(super) streams: [Stream; 3],
    pub(super) kernels: Kernels<'d>,
    pub(super) memory: Twice<'d>,
    told: DevicePtr,
    written: Event,
}

/// What was read by the other address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// Words as they were written.
    pub(super) written: u64,
    /// Words as they were before.
    pub(super) before: u64,
    /// Whether what had to run at the same time did.
    pub(super) together: bool,
}

impl<'d> Stage<'d> {
    /// The rest, for a context that is current.
    pub(super) fn new(
        driver: &'d dyn Driver,
        context: Context,
        streams: [Stream; 3],
        kernels: Kernels<'d>,
        memory: Twice<'d>,
    ) -> Result<Self> {
        // Flags 0: an event like any other.
        let (told, written) = (driver.mem_alloc(TOLD)?, driver.event_create(0)?);
        Ok(Self { driver, context, streams, kernels, memory, told, written })
    }

    /// Plays a case and waits for its end.
    pub(super) fn play(&self, case: Case) -> Result<Reading> {
        let Kernels { fenced, unfenced, .. } = self.kernels;
        if case == Case::EarlyReader {
            self.rehearse()?;
        }
        self.prepare()?;
        match case {
            Case::Ordered => self.ordered(),
            Case::Fenced | Case::Unfenced => {
                let function = if case == Case::Fenced { fenced } else { unfenced };
                let args = [&[KernelArg::Ptr(self.memory.a)], self.reading(self.memory.words()).as_slice()].concat();
                self.kernels.launch(function, self.streams[0], self.all(), &args)?;
                self.reading_of(0)
            }
            Case::EarlyReader => self.early_reader(),
        }
    }

    /// Lets each kernel that waits run once with nothing to wait for: one that is not loaded yet may have to wait for those that
    /// run.
    fn rehearse(&self) -> Result<()> {
        self.driver.memset_d8(self.told, 1, TOLD)?;
        self.driver.ctx_synchronize()?;
        self.queue_early_reader(0)?;
        self.queue_await_reader()
    }

    /// Writes what is there before, and has all that was told forgotten.
    fn prepare(&self) -> Result<()> {
        self.driver.ctx_synchronize()?;
        self.driver.memset_d8(self.told, 0, TOLD)?;
        self.write(BEFORE, self.streams[0])?;
        self.driver.ctx_synchronize()
    }

    /// Three streams, and an event that keeps each operation behind the one whose bytes it needs.
    fn ordered(&self) -> Result<Reading> {
        let [first, second, third] = self.streams;
        let len = self.memory.size.min(COPIED).to_usize().unwrap_or_default();
        let [input, output] = [PinnedBuffer::zeroed(self.driver, len)?, PinnedBuffer::zeroed(self.driver, len)?];
        let input = input.copy_to(self.memory.b, first)?;
        self.write(WRITTEN, first)?;
        self.driver.event_record(self.written, first)?;
        self.driver.stream_wait_event(second, self.written, 0)?;
        let reading = self.reading(self.memory.words());
        self.kernels.launch(self.kernels.reader, second, self.all(), &reading)?;
        self.driver.stream_wait_event(third, self.written, 0)?;
        let output = output.copy_from(self.memory.b, third)?.wait()?;
        self.driver.stream_synchronize(second)?;
        drop(input.wait()?);
        let (copied, _) = output.bytes().as_chunks::<8>();
        let wrong = (0..).zip(copied).filter(|(index, word)| u64::from_le_bytes(**word) != WRITTEN + index).count();
        self.reading_of(wrong as u64)
    }

    /// A reader waits on one stream while a writer begins and ends on another.
    fn early_reader(&self) -> Result<Reading> {
        let [reader, writer, _] = self.streams;
        self.queue_early_reader(self.memory.words())?;
        self.queue_await_reader()?;
        self.write(WRITTEN, writer)?;
        self.driver.memset_d8_async(self.told_at(WRITER_ENDED), 1, ByteSize::new(4), writer)?;
        self.driver.stream_synchronize(reader)?;
        self.driver.stream_synchronize(writer)?;
        let reading = self.reading_of(0)?;
        // A reader for which the writer ended too late reads nothing.
        let has_read = reading.written + reading.before > 0;
        Ok(Reading { together: reading.together && has_read, ..reading })
    }

    fn queue_early_reader(&self, words: u64) -> Result<()> {
        let waits = [KernelArg::Ptr(self.told_at(FLAGS)), KernelArg::U64(PATIENCE_NS)];
        let args = [self.reading(words).as_slice(), &waits].concat();
        self.kernels.launch(self.kernels.early_reader, self.streams[0], Shape::ONE_BLOCK, &args)
    }

    fn queue_await_reader(&self) -> Result<()> {
        let args = [KernelArg::Ptr(self.told_at(FLAGS)), KernelArg::U64(PATIENCE_NS)];
        self.kernels.launch(self.kernels.await_reader, self.streams[1], Shape::ONE_THREAD, &args)
    }

    /// Queues a kernel that writes by the first address.
    fn write(&self, value: u64, stream: Stream) -> Result<()> {
        let args = [KernelArg::Ptr(self.memory.a), KernelArg::U64(self.memory.words()), KernelArg::U64(value)];
        self.kernels.launch(self.kernels.writer, stream, self.all(), &args)
    }

    /// The arguments of a kernel that reads so many words by the second address.
    fn reading(&self, words: u64) -> [KernelArg; 5] {
        let (b, told) = (KernelArg::Ptr(self.memory.b), KernelArg::Ptr(self.told));
        [b, KernelArg::U64(words), KernelArg::U64(WRITTEN), KernelArg::U64(BEFORE), told]
    }

    /// What kernels told, which have ended; `wrong`: so many of the words that they found were wrong elsewhere.
    fn reading_of(&self, wrong: u64) -> Result<Reading> {
        self.driver.ctx_synchronize()?;
        let mut told = [0; 32];
        self.driver.memcpy_dtoh(&mut told, self.told)?;
        let word = |at: usize| told[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let together = told[IN_TIME as usize] != 0;
        Ok(Reading { written: word(0).saturating_sub(wrong), before: word(8), together })
    }

    fn all(&self) -> Shape {
        Shape::over(self.memory.words())
    }

    fn told_at(&self, offset: u64) -> DevicePtr {
        // Inside an allocation no sum goes past the end of the address space.
        self.told.checked_add(ByteSize::new(offset)).unwrap_or(self.told)
    }

    /// Gives everything back, the last first.
    pub(super) fn clear_away(self) -> Result<()> {
        let driver = self.driver;
        driver.event_destroy(self.written)?;
        driver.mem_free(self.told)?;
        self.memory.give_back()?;
        self.kernels.unload()?;
        self.streams.into_iter().try_for_each(|stream| driver.stream_destroy(stream))?;
        driver.ctx_destroy(self.context)
    }
}
