//! What can be asked of this scenario alone.

use peermap_driver::ByteSize;

use crate::content::Fill;
use crate::error::UsageError;
use crate::options::Options;

/// The fewest chunks of a vector: with these it doubles twice, the second time elsewhere.
const FEWEST: u64 = 4;
/// The most: each is mapped by calls of its own.
const MOST: u64 = 65_536;

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grow {
    pub(super) options: Options,
    /// What is mapped at once.
    pub(super) chunk: ByteSize,
    /// Whether every second chunk is freed in the end, and the rest mapped in a row.
    pub(super) kv_cache: bool,
}

impl Grow {
    /// The scenario with these options, whose size is that of the vector when it is largest. Its contents are patterns: ids would not
    /// tell one chunk from another.
    #[must_use]
    pub fn new(options: Options, chunk: ByteSize, kv_cache: bool) -> Self {
        Self { options: Options { fill: Some(Fill::Pattern), ..options }, chunk, kv_cache }
    }

    /// How many chunks the vector has when it is largest.
    pub(super) fn chunks(&self) -> u32 {
        let chunks = self.options.size.get().checked_div(self.chunk.get()).unwrap_or(0);
        u32::try_from(chunks).unwrap_or(u32::MAX)
    }

    /// Refuses chunks that cannot be.
    pub(super) fn check_chunks(&self) -> Result<(), UsageError> {
        let (size, chunk) = (self.options.size, self.chunk);
        if chunk.is_zero() {
            return Err(UsageError::ZeroChunk);
        }
        let fits = size.is_multiple_of(chunk) && (FEWEST..=MOST).contains(&(size.get() / chunk.get()));
        if fits { Ok(()) } else { Err(UsageError::Chunks { size, chunk, fewest: FEWEST, most: MOST }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_some_whole_chunks() {
        let grow = |size, chunk| Grow::new(Options { size, ..Options::default() }, chunk, false);
        assert!(matches!(grow(ByteSize::mib(8), ByteSize::ZERO).check_chunks(), Err(UsageError::ZeroChunk)));
        for (size, chunk) in [(6, 2), (9, 2), (2, 4), (131_074, 1)] {
            let refused = grow(ByteSize::mib(size), ByteSize::mib(chunk)).check_chunks();
            assert!(matches!(refused, Err(UsageError::Chunks { .. })), "{size} {chunk}");
        }
        let least = grow(ByteSize::mib(8), ByteSize::mib(2));
        assert!(least.check_chunks().is_ok());
        assert_eq!(least.chunks(), 4);
    }
}
