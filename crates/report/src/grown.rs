//! How a vector grew.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a vector grew and shrank without copying.
///
/// # Units
/// Sizes are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Grown {
    /// How many chunks it had when it was largest.
    pub chunks: u32,
    /// The size of a chunk.
    pub chunk: u64,
    /// How often it grew where it had room.
    pub in_place: u32,
    /// How often it grew by the addresses right behind it.
    pub extended: u32,
    /// How often it was mapped elsewhere.
    pub moved: u32,
    /// How often a driver call of a growth was refused, and the vector was found as it was.
    pub refused: u32,
    /// How many driver calls of the vector moved bytes.
    pub copies: u64,
    /// How many bytes were found right at addresses that it had left, each as often as it was looked at.
    pub verified_old: u64,
    /// The most addresses that it had reserved at once.
    pub address_high_water: u64,
    /// How much of the free room between its chunks lay apart from the longest run of it, in percent, before the scattered chunks were
    /// mapped in a row.
    pub fragmentation_before_percent: Option<f64>,
    /// The same after it.
    pub fragmentation_after_percent: Option<f64>,
}

impl fmt::Display for Grown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chunks, chunk, in_place, extended, moved, refused, copies, verified_old, .. } = self;
        write!(
            f,
            "{chunks} chunks of {chunk} bytes; grew {in_place} times in place, {extended} times behind, {moved} times elsewhere; \
             whole after {refused} refusals; {copies} copies; {verified_old} bytes right at old addresses; at most {} bytes of \
             addresses",
            self.address_high_water
        )?;
        match (self.fragmentation_before_percent, self.fragmentation_after_percent) {
            (Some(before), Some(after)) => write!(f, "; fragmentation {before:.1} %, gathered {after:.1} %"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_a_vector_grew() {
        let grown = Grown { chunks: 16, chunk: 2_097_152, in_place: 3, moved: 2, refused: 14, ..Grown::default() };
        let line = "16 chunks of 2097152 bytes; grew 3 times in place, 0 times behind, 2 times elsewhere; \
                    whole after 14 refusals; 0 copies; 0 bytes right at old addresses; at most 0 bytes of addresses";
        assert_eq!(grown.to_string(), line);
        let gathered =
            Grown { fragmentation_before_percent: Some(87.5), fragmentation_after_percent: Some(0.0), ..grown };
        assert_eq!(gathered.to_string(), format!("{line}; fragmentation 87.5 %, gathered 0.0 %"));
    }
}
