//! Checked access to device memory.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::switches::NoMemory;
use crate::{Access, Arena, Content, Entry, Fault, FaultKind, Spans, Switches, Table};

/// Device memory as one simulated process sees it from one device: a table and the arenas that it points into.
///
/// It is a few references: make one whenever it is needed. All lengths are bytes and may be zero, which never faults.
///
/// # Errors
///
/// Every operation that faults names the exact first faulting byte. What lies before that byte has been done and stays
/// done; who wants all or nothing calls [`View::check`] first. A first write can still fault then, with
/// [`FaultKind::HostMemory`].
///
/// # Multicast
///
/// Where an address stands for memory of several devices, what writes does so in each of them. What reads faults with
/// [`FaultKind::Multicast`]: whoever knows what is meant reads each of the [copies](View::copies).
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    table: &'a Table,
    arenas: &'a [Arc<Arena>],
    switches: Option<&'a Switches>,
    /// The device whose memory a multicast address stands for.
    copy: Option<u16>,
}

impl<'a> View<'a> {
    /// Joins a table and arenas: [`crate::Backing::arena`] is the place in `arenas`.
    ///
    /// # Panics
    ///
    /// If an arena has another granule size than the table. The operations panic if the table names an arena or a
    /// granule that does not exist.
    pub fn new(table: &'a Table, arenas: &'a [Arc<Arena>]) -> Self {
        let granule_bytes = table.granule_bytes();
        let same = arenas.iter().all(|arena| arena.granule_bytes() == granule_bytes);
        assert!(same, "table and arenas have different granules: {granule_bytes} bytes in the table");
        Self { table, arenas, switches: None, copy: None }
    }

    /// The same with multicast addresses. The operations panic if the table has some and the view was not told what they
    /// stand for.
    #[must_use]
    pub fn with_switches(self, switches: &'a Switches) -> Self {
        Self { switches: Some(switches), ..self }
    }

    /// For a multicast address a view for each device of the team, in which the address stands for memory of that device
    /// alone. For any other address there is none.
    pub fn copies(&self, address: u64) -> impl Iterator<Item = Self> + use<'a> {
        let entry = self.table.lookup(address).filter(|entry| entry.is_of_a_team() && self.copy.is_none());
        let devices = entry.into_iter().flat_map({
            let switches = self.switches;
            move |entry| switches.expect("a view of a table with teams").team(entry.granule())
        });
        let view = *self;
        devices.map(move |device| Self { copy: Some(device), ..view })
    }

    /// Does something at an address; if it is a multicast address, once for each copy.
    #[inline]
    pub(crate) fn in_each_copy(
        &self,
        address: u64,
        mut act: impl FnMut(&View<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        match act(self) {
            Err(Fault { address: first, kind: FaultKind::Multicast }) if first == address => {
                self.copies(address).try_for_each(|copy| act(&copy))
            }
            done => done,
        }
    }

    /// Whether `len` bytes are mapped with the rights that the access needs. Nothing is touched.
    ///
    /// # Errors
    ///
    /// [`Fault`] with `NotMapped`, `NoReadAccess` or `NoWriteAccess`.
    pub fn check(&self, address: u64, len: u64, access: Access) -> Result<(), Fault> {
        let granule = self.table.granule();
        let mut done = 0;
        while done < len {
            let here = address.wrapping_add(done);
            self.entry(here, access)?;
            done += (granule.bytes() - granule.inside(here)).min(len - done);
        }
        Ok(())
    }

    /// The runs of host memory behind `len` bytes. Neighbouring granules that are neighbours in the arena too give one
    /// run.
    ///
    /// With a writing access every granule of a run is charged before the run is given out.
    ///
    /// # Errors
    ///
    /// The iterator ends with the first [`Fault`].
    pub fn spans(&self, address: u64, len: u64, access: Access) -> Spans<'a> {
        Spans::new(*self, address, len, access)
    }

    /// Copies device memory into `bytes`.
    ///
    /// # Errors
    ///
    /// [`Fault`] at the first byte that cannot be read.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        for span in self.spans(address, bytes.len() as u64, Access::Read) {
            let span = span?;
            let target = &mut bytes[span.offset as usize..][..span.len];
            match span.content {
                Content::Zero => target.fill(0),
                // SAFETY: `copy_nonoverlapping` needs `len` readable bytes, which the span covers, `len` writable
                // bytes, which the slice is, and no overlap: no reference into an arena exists.
                Content::Bytes(source) => unsafe {
                    ptr::copy_nonoverlapping(source.as_ptr(), target.as_mut_ptr(), span.len);
                },
            }
        }
        Ok(())
    }

    /// Copies `bytes` into device memory.
    ///
    /// # Errors
    ///
    /// [`Fault`] at the first byte that cannot be written.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let put = |offset: u64, target: *mut u8, len: usize| {
            let source = &bytes[offset as usize..][..len];
            // SAFETY: `copy_nonoverlapping` needs `len` readable bytes, which the slice is, `len` writable bytes, which
            // the span covers, and no overlap: no reference into an arena exists.
            unsafe { ptr::copy_nonoverlapping(source.as_ptr(), target, len) }
        };
        self.in_each_copy(address, |view| view.each_written(address, bytes.len() as u64, put))
    }

    /// Sets `len` bytes to `value`.
    ///
    /// # Errors
    ///
    /// [`Fault`] at the first byte that cannot be written.
    pub fn fill(&self, address: u64, value: u8, len: u64) -> Result<(), Fault> {
        // SAFETY: `write_bytes` needs `len` writable bytes, which the span covers.
        let put = |_, target, len| unsafe { ptr::write_bytes(target, value, len) };
        self.in_each_copy(address, |view| view.each_written(address, len, put))
    }

    /// Copies `len` bytes from `source_address` of `source` to `address` of this view. The views may be the same.
    ///
    /// The ranges may overlap, also by way of two addresses of the same memory, and the copy is always memory safe. It
    /// runs upwards, run by run (see [`View::spans`]), and each run is moved as by `memmove`. So the result is that of
    /// one `memmove` if each range is a single run; else bytes that are copied later may be bytes that were just
    /// written.
    ///
    /// # Errors
    ///
    /// [`Fault`] at the first byte that cannot be read or written; of two faults at the same distance, that of the
    /// source.
    pub fn copy_from(&self, address: u64, source: &View<'_>, source_address: u64, len: u64) -> Result<(), Fault> {
        for span in source.spans(source_address, len, Access::Read) {
            let span = span?;
            let start = address.wrapping_add(span.offset);
            match span.content {
                Content::Zero => self.fill(start, 0, span.len as u64)?,
                Content::Bytes(from) => self.move_in(start, from, span.len as u64)?,
            }
        }
        self.copy_marks(address, source, source_address, len);
        Ok(())
    }

    fn move_in(&self, address: u64, from: NonNull<u8>, len: u64) -> Result<(), Fault> {
        let put = |offset: u64, target: *mut u8, len: usize| {
            let from = from.as_ptr().wrapping_add(offset as usize);
            // SAFETY: `copy` needs `len` readable bytes, which the source span has from `offset` on, and `len` writable
            // bytes, which the target span covers; they may overlap.
            unsafe { ptr::copy(from, target, len) }
        };
        self.in_each_copy(address, |view| view.each_written(address, len, put))
    }

    /// Calls `visit` with offset, pointer and length of each run that can be written, in order.
    #[inline]
    pub(crate) fn each_written(
        &self,
        address: u64,
        len: u64,
        mut visit: impl FnMut(u64, *mut u8, usize),
    ) -> Result<(), Fault> {
        for span in self.spans(address, len, Access::Write) {
            let span = span?;
            match span.content {
                Content::Bytes(bytes) => visit(span.offset, bytes.as_ptr(), span.len),
                Content::Zero => unreachable!("a span that can be written has bytes"),
            }
        }
        Ok(())
    }

    /// The longest run from `address` on, at most `len` bytes, which are at least one.
    pub(crate) fn run(&self, address: u64, len: u64, access: Access) -> Result<(Content, u64), Fault> {
        let fault = |kind| Fault { address, kind };
        let granule = self.table.granule();
        let inside = granule.inside(address);
        let first = self.entry(address, access)?;
        let arena = &*self.arenas[usize::from(first.arena())];
        let backed = has_bytes(arena, first, access).map_err(fault)?;
        let content = match backed {
            true => Content::Bytes(arena.pointer(first.granule(), inside).map_err(fault)?),
            false => Content::Zero,
        };
        let mut run = (granule.bytes() - inside).min(len);
        let mut last = first;
        // A granule that cannot be joined, for whatever reason, is looked at again as the first of the next run.
        while run < len {
            let next = self.table.lookup(address + run).filter(|next| next.follows(last));
            let Some(next) = next.filter(|next| has_bytes(arena, *next, access) == Ok(backed)) else {
                break;
            };
            run = (run + granule.bytes()).min(len);
            last = next;
        }
        if access != Access::Read
            && let Some(marks) = arena.written_bytes()
        {
            marks.set(granule.start(first.granule()) + inside, run);
        }
        Ok((content, run))
    }

    /// Where bytes lie that have an address, whatever the rights to them are: the arena's place in the slice of arenas,
    /// and the offset in it. Those of a multicast address lie in several places, and have one in each of its copies only.
    pub fn place(&self, address: u64) -> Option<(u8, u64)> {
        let granule = self.table.granule();
        let entry = self.table.lookup(address)?;
        let entry = if entry.is_of_a_team() { self.resolved(address, entry).ok()? } else { entry };
        Some((entry.arena(), granule.start(entry.granule()) + granule.inside(address)))
    }

    /// The arena at a place.
    pub(crate) fn arena(&self, place: u8) -> &'a Arena {
        &self.arenas[usize::from(place)]
    }

    /// How many of `len` bytes at an address lie in its granule.
    #[must_use]
    pub fn part(&self, address: u64, len: u64) -> u64 {
        let granule = self.table.granule();
        (granule.bytes() - granule.inside(address)).min(len)
    }

    fn entry(&self, address: u64, access: Access) -> Result<Entry, Fault> {
        let entry = self.table.lookup(address).ok_or(Fault { address, kind: FaultKind::NotMapped })?;
        entry.allows(access).map_err(|kind| Fault { address, kind })?;
        if entry.is_of_a_team() { self.resolved(address, entry) } else { Ok(entry) }
    }

    /// The memory that a multicast address stands for in this copy.
    #[cold]
    fn resolved(&self, address: u64, entry: Entry) -> Result<Entry, Fault> {
        let device = self.copy.ok_or(Fault { address, kind: FaultKind::Multicast })?;
        let switches = self.switches.expect("a copy of a view with switches");
        match switches.memory(entry.granule(), device) {
            Some(Ok(memory)) => Ok(memory),
            Some(Err(NoMemory)) | None => Err(Fault { address, kind: FaultKind::Unbound { device } }),
        }
    }
}

/// Whether the granule has bytes in the arena. Before a write it gets them, if the budget agrees.
#[inline]
fn has_bytes(arena: &Arena, entry: Entry, access: Access) -> Result<bool, FaultKind> {
    match access {
        Access::Read => Ok(arena.is_written(entry.granule())),
        Access::Write | Access::ReadWrite => match arena.prepare_write(entry.granule()) {
            Ok(()) => Ok(true),
            Err(refusal) => Err(FaultKind::HostMemory(refusal)),
        },
    }
}
