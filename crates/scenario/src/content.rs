//! What buffers hold: the host's twin of the fill kernels.

use serde::{Deserialize, Serialize};

use crate::names::names;

/// With what workers fill their buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fill {
    /// Every byte is the number of the worker, as in NVIDIA's sample.
    Id,
    /// Every word depends on worker, step and offset, so that swapped pages show. See `kernels/README.md`.
    Pattern,
}

/// The most workers whose numbers are told apart, and from fresh memory, in one byte.
const MOST_IDS: u32 = 255;

impl Fill {
    /// Decides what is not asked for, and refuses ids that do not fit a byte: [`None`].
    pub(crate) fn decide(asked: Option<Self>, workers: u32) -> Option<Self> {
        match asked {
            Some(Self::Id) if workers > MOST_IDS => None,
            Some(fill) => Some(fill),
            None if workers > MOST_IDS => Some(Self::Pattern),
            None => Some(Self::Id),
        }
    }

    /// What a buffer holds that was filled by this author.
    pub(crate) fn content(self, author: Author) -> Content {
        match self {
            Self::Id => Content::Repeated(author.id()),
            Self::Pattern => Content::Pattern { key: pattern_key(author) },
        }
    }
}

names!(Fill { Id = "id", Pattern = "pattern", });

/// Who filled a buffer, and in which step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Author {
    /// The number of the worker.
    pub worker: u32,
    /// The step, counted from 0.
    pub step: u32,
}

impl Author {
    /// The number of the worker as one byte, which is all of it where ids are used at all.
    pub(crate) const fn id(self) -> u8 {
        self.worker.to_le_bytes()[0]
    }
}

/// What a buffer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// One byte everywhere.
    Repeated(u8),
    /// The pattern of this key.
    Pattern { key: u64 },
}

impl Content {
    /// The byte at an offset.
    pub(crate) fn byte(self, offset: u64) -> u8 {
        match self {
            Self::Repeated(byte) => byte,
            Self::Pattern { key } => word(key, offset / 8).to_le_bytes()[(offset % 8) as usize],
        }
    }

    /// The eight bytes from an offset on, which is a multiple of 8.
    pub(crate) fn eight(self, offset: u64) -> [u8; 8] {
        match self {
            Self::Repeated(byte) => [byte; 8],
            Self::Pattern { key } => word(key, offset / 8).to_le_bytes(),
        }
    }
}

/// A bijection of 64-bit words.
const fn finalise(mut z: u64) -> u64 {
    z ^= z >> 32;
    z = z.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    z ^= z >> 32;
    z = z.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    z ^ (z >> 32)
}

const fn pattern_key(author: Author) -> u64 {
    let pair = (author.worker as u64) << 32 | author.step as u64;
    finalise(pair.wrapping_add(0x9E37_79B9_7F4A_7C15))
}

const fn word(key: u64, index: u64) -> u64 {
    finalise(key.wrapping_add(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_has_the_values_that_the_readme_of_the_kernels_gives() {
        for (worker, step, index, value) in [
            (0, 0, 0, 0x3DA4_588B_8C08_334F),
            (3, 7, 1, 0x87D2_944D_5752_0708),
            (u32::MAX, u32::MAX, 536_870_912, 0x142C_487E_8B07_50E7),
        ] {
            let content = Fill::Pattern.content(Author { worker, step });
            assert_eq!(u64::from_le_bytes(content.eight(8 * index)), value);
        }
        let first = Fill::Pattern.content(Author { worker: 0, step: 0 });
        let bytes: Vec<u8> = (0..8).map(|offset| first.byte(offset)).collect();
        assert_eq!(bytes, [0x4F, 0x33, 0x08, 0x8C, 0x8B, 0x58, 0xA4, 0x3D]);
    }

    #[test]
    fn the_pattern_is_used_by_itself_above_255_workers() {
        assert_eq!(Fill::decide(None, 255), Some(Fill::Id));
        assert_eq!(Fill::decide(None, 256), Some(Fill::Pattern));
        assert_eq!(Fill::decide(Some(Fill::Pattern), 2), Some(Fill::Pattern));
        assert_eq!(Fill::decide(Some(Fill::Id), 256), None);
    }

    #[test]
    fn names_read_back_and_unknown_ones_say_what_there_is() {
        for name in Fill::NAMES {
            assert_eq!(name.parse::<Fill>().unwrap().to_string(), *name);
        }
        assert_eq!("ids".parse::<Fill>().unwrap_err().to_string(), "\"ids\" is unknown; use id or pattern");
    }
}
