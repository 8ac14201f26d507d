//! The memory of one device.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

use crate::granule::GranuleSize;
use crate::mapping::Mapping;
use crate::marks::{BYTES_PER_BYTE, Marks};
use crate::states::{PATIENCE, States};
use crate::{Budget, FaultKind, HostMemory, MemoryError, Part, file};

/// The memory of one device or host NUMA node: a sparse memory file that OS processes share, and the record of its
/// written granules.
///
/// Fresh memory reads as zero and takes no host memory. The first write to a granule charges the budget with the whole
/// granule; if the budget refuses, the write faults with [`FaultKind::HostMemory`], so that the kernel never has to
/// kill anybody. The whole file is mapped when a byte is first needed, and stays mapped for the life of the value.
///
/// # Units
///
/// Offsets are bytes from the start of the arena; granules are counted from 0.
#[derive(Debug)]
pub struct Arena {
    index: u8,
    bytes: u64,
    granules: u64,
    granule: GranuleSize,
    file: OwnedFd,
    states: States,
    /// Which bytes were written, where somebody asked for that.
    marks: Option<Marks>,
    window: OnceLock<Mapping>,
    budget: Arc<Budget>,
}

impl Arena {
    /// Makes the arena with this index: `bytes` of fresh memory. Nothing is allocated.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Granule`] and [`MemoryError::Size`] for sizes that do not fit together; [`MemoryError::Create`]
    /// and [`MemoryError::Map`] if the kernel refuses.
    pub fn create(index: u8, bytes: u64, granule_bytes: u64, budget: Arc<Budget>) -> Result<Self, MemoryError> {
        let granule = GranuleSize::new(granule_bytes)?;
        let granules = granule.count(Part::Bytes, 0, bytes)?;
        let file = file::create(Part::Bytes, &format!("peermap-arena-{index}"), bytes)?;
        let written = file::create(Part::Written, &format!("peermap-written-{index}"), granules)?;
        let states = States::map(written, granules)?;
        Ok(Self { index, bytes, granules, granule, file, states, marks: None, window: OnceLock::new(), budget })
    }

    /// Opens an arena of another OS process from its [`Arena::descriptors`]. `budget` has to be the budget of that
    /// arena.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Inspect`], [`MemoryError::Unsealed`] and [`MemoryError::WrongSize`] if these are not the
    /// descriptors of an arena with this granule size; [`MemoryError::Granule`], [`MemoryError::Size`] and
    /// [`MemoryError::Map`] as for [`Arena::create`].
    pub fn from_fds(
        index: u8,
        descriptors: [OwnedFd; 2],
        granule_bytes: u64,
        budget: Arc<Budget>,
    ) -> Result<Self, MemoryError> {
        let [file, written] = descriptors;
        let granule = GranuleSize::new(granule_bytes)?;
        let bytes = file::fixed_size(Part::Bytes, file.as_fd())?;
        let granules = granule.count(Part::Bytes, 0, bytes)?;
        file::expect_size(Part::Written, &written, granules)?;
        let states = States::map(written, granules)?;
        Ok(Self { index, bytes, granules, granule, file, states, marks: None, window: OnceLock::new(), budget })
    }

    /// Keeps a record of each byte that is written from now on, for
    /// [`View::first_unwritten`](crate::View::first_unwritten). Whoever opens the arena has to keep the same one. It takes
    /// an eighth of the memory that is written, which is charged too.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Create`] and [`MemoryError::Map`] if the kernel refuses.
    pub fn marked(mut self) -> Result<Self, MemoryError> {
        self.marks = Some(Marks::create(self.index, self.bytes)?);
        Ok(self)
    }

    /// As [`Arena::marked`], with the record that another OS process keeps: its [`Arena::marks`].
    ///
    /// # Errors
    ///
    /// [`MemoryError::Inspect`], [`MemoryError::Unsealed`] and [`MemoryError::WrongSize`] if this is not the record of
    /// an arena of this size; [`MemoryError::Map`] if the kernel refuses.
    pub fn marked_as(mut self, record: OwnedFd) -> Result<Self, MemoryError> {
        self.marks = Some(Marks::map(record, self.bytes)?);
        Ok(self)
    }

    /// What another OS process needs for [`Arena::marked_as`], if this arena keeps such a record.
    pub fn marks(&self) -> Option<BorrowedFd<'_>> {
        self.marks.as_ref().map(Marks::descriptor)
    }

    /// What another OS process needs for [`Arena::from_fds`]: the bytes, then the written granules.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.file.as_fd(), self.states.descriptor()]
    }

    /// The index that the arena was made with.
    pub fn index(&self) -> u8 {
        self.index
    }

    /// The size of the arena.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The size of a granule.
    pub fn granule_bytes(&self) -> u64 {
        self.granule.bytes()
    }

    /// Makes memory that was freed fresh again: its pages go back to the host, its granules are credited to the budget.
    ///
    /// No table should map these granules any more. A write that is still under way may be lost, or may show up in
    /// memory that counts as fresh.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Discard`] if the kernel refuses; the memory then stays written and charged.
    ///
    /// # Panics
    ///
    /// If the range is not whole granules of this arena.
    pub fn discard(&self, offset: u64, bytes: u64) -> Result<(), MemoryError> {
        let whole = self.granule.inside(offset) == 0 && self.granule.inside(bytes) == 0;
        let end = offset.checked_add(bytes).filter(|end| whole && *end <= self.bytes);
        let Some(end) = end else {
            panic!("{bytes} bytes at {offset:#x} are not whole granules of arena {}", self.index);
        };
        let range = self.granule.index(offset)..self.granule.index(end);
        // Every written granule is charged. Where nothing is, the record need not be read, which alone would take memory.
        if self.budget.used() == 0 || !self.states.any_written(range.clone()) {
            return Ok(());
        }
        // The bytes go first: at no time does a granule count as fresh while old bytes are in it.
        self.punch(offset, bytes)?;
        let credited = self.states.discard(range);
        self.budget.credit(credited * self.charge());
        Ok(())
    }

    /// What a written granule takes of the budget.
    fn charge(&self) -> u64 {
        let marks = if self.marks.is_some() { self.granule.bytes() / BYTES_PER_BYTE } else { 0 };
        self.granule.bytes() + marks
    }

    fn punch(&self, offset: u64, bytes: u64) -> Result<(), MemoryError> {
        let mode = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        // The file has more than `offset + bytes` bytes, and a file's size fits the kernel's signed type.
        let punched = fallocate(&self.file, mode, offset as i64, bytes as i64);
        let punched = punched.and_then(|()| self.marks.as_ref().map_or(Ok(()), |marks| marks.punch(offset, bytes)));
        punched.map_err(|source| MemoryError::Discard { arena: self.index, offset, bytes, source })
    }

    /// Whether the granule may hold something else than zeros.
    ///
    /// # Panics
    ///
    /// If the arena has no such granule.
    #[inline]
    pub(crate) fn is_written(&self, granule: u64) -> bool {
        self.states.is_written(granule)
    }

    /// Charges the granule unless it is charged already. After that it may be written.
    ///
    /// # Panics
    ///
    /// If the arena has no such granule.
    #[inline]
    pub(crate) fn prepare_write(&self, granule: u64) -> Result<(), HostMemory> {
        if self.states.is_written(granule) {
            return Ok(());
        }
        self.states.write(granule, PATIENCE, || self.budget.charge(self.charge()))
    }

    /// The record of written bytes, if there is one.
    #[inline]
    pub(crate) fn written_bytes(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    /// The host address of a byte of a granule. `inside` is less than a granule.
    ///
    /// # Panics
    ///
    /// If the arena has no such granule.
    #[inline]
    pub(crate) fn pointer(&self, granule: u64, inside: u64) -> Result<NonNull<u8>, FaultKind> {
        assert!(granule < self.granules, "arena {} has no granule {granule}", self.index);
        let start = self.window().map_err(FaultKind::HostMapping)?;
        let offset = self.granule.start(granule) + inside;
        // SAFETY: NonNull::add needs the result within the same allocation: the window maps all granules of the arena.
        Ok(unsafe { start.add(offset as usize) })
    }

    #[inline]
    fn window(&self) -> Result<NonNull<u8>, Errno> {
        match self.window.get() {
            Some(window) => Ok(window.start()),
            None => self.map_window(),
        }
    }

    #[cold]
    fn map_window(&self) -> Result<NonNull<u8>, Errno> {
        let window = Mapping::shared(self.file.as_fd(), self.bytes)?;
        // Another thread may have been faster: then its mapping is used, and this one goes away unseen.
        Ok(self.window.get_or_init(|| window).start())
    }
}
