//! Device ranges as runs of host memory.

use std::ptr::NonNull;

use crate::{Access, Fault, View};

/// A run of bytes of a request that lie side by side in one arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where the run starts, counted from the start of the request.
    pub offset: u64,
    /// Its length in bytes, never zero.
    pub len: usize,
    /// Where the bytes are.
    pub content: Content,
}

/// Where the bytes of a span are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// In shared host memory. The pointer is valid as long as the arenas of the view; other threads and OS processes
    /// may access the bytes at any time, so no reference to them may be made.
    Bytes(NonNull<u8>),
    /// Nowhere: the memory is fresh and reads as zero. Only reads get this.
    Zero,
}

/// The spans of a request, in order, up to its end or its first fault. Made by [`View::spans`].
#[derive(Clone, Debug)]
pub struct Spans<'a> {
    view: View<'a>,
    address: u64,
    offset: u64,
    len: u64,
    access: Access,
}

impl<'a> Spans<'a> {
    pub(crate) fn new(view: View<'a>, address: u64, len: u64, access: Access) -> Self {
        Self { view, address, offset: 0, len, access }
    }
}

impl Iterator for Spans<'_> {
    type Item = Result<Span, Fault>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.offset == self.len {
            return None;
        }
        let offset = self.offset;
        // Whatever is wrong is found at the start, before this sum can overflow: the window ends below 2^64.
        let found = self.view.run(self.address.wrapping_add(offset), self.len - offset, self.access);
        self.offset = found.as_ref().map_or(self.len, |(_, run)| offset + run);
        Some(found.map(|(content, run)| Span { offset, len: run as usize, content }))
    }
}
