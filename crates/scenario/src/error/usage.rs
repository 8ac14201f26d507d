//! What was asked for and cannot be.

use std::path::PathBuf;

use peermap_driver::ByteSize;

use crate::devices::{DeviceChoice, MAX_DEVICES};

/// What was asked for and cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    /// A size of zero.
    #[error("a buffer of 0 bytes holds nothing; use a --size such as 4MiB")]
    ZeroSize,
    /// No worker at all.
    #[error("0 processes per device do nothing; use --processes-per-device 1 or more")]
    ZeroProcesses,
    /// No time at all.
    #[error("a timeout of 0 ends every run; use a --timeout of 1 second or more")]
    ZeroTimeout,
    /// No step at all.
    #[error("0 steps fill nothing; use --steps 1 or more")]
    ZeroSteps,
    /// More steps than are counted.
    #[error("{steps} steps are more than the {max} that are counted; use fewer --steps")]
    TooManySteps {
        /// How many were asked for.
        steps: u32,
        /// How many there can be.
        max: u32,
    },
    /// A rank that there is not.
    #[error("there is no rank {rank} to be absent; the ranks are 0 to {}", ranks.saturating_sub(1))]
    NoSuchRank {
        /// What was asked for.
        rank: u32,
        /// How many there are.
        ranks: u32,
    },
    /// Chunks of nothing.
    #[error("a chunk of 0 bytes holds nothing; use a --chunk such as 2MiB")]
    ZeroChunk,
    /// A vector that is not made of chunks.
    #[error("{size} is not {fewest} to {most} whole chunks of {chunk}; use another --size or --chunk")]
    Chunks {
        /// The size of the vector.
        size: ByteSize,
        /// The size of a chunk.
        chunk: ByteSize,
        /// How many chunks there must be at least.
        fewest: u64,
        /// How many there can be.
        most: u64,
    },
    /// Stripes of nothing.
    #[error("a stripe of 0 bytes holds nothing; use a --stripe such as 2MiB")]
    ZeroStripe,
    /// A vector that is not made of stripes.
    #[error("{size} is not {fewest} to {most} whole stripes of {stripe}; use another --size or --stripe")]
    Stripes {
        /// The size of the vector.
        size: ByteSize,
        /// The size of a stripe.
        stripe: ByteSize,
        /// How many there must be at least.
        fewest: u64,
        /// How many there can be.
        most: u64,
    },
    /// A size that the device cannot map.
    #[error(
        "{size} is no multiple of the granularity, which is {granularity}; the next size that fits is {}",
        shown(next)
    )]
    Granularity {
        /// What was asked for.
        size: ByteSize,
        /// The granularity of the device.
        granularity: ByteSize,
        /// The next multiple; `None`: it does not fit 64 bits.
        next: Option<ByteSize>,
    },
    /// More than the device that holds the buffers has.
    #[error("{workers} buffers of {size} do not fit the {total} of {device}; use a --size of at most {}", shown(most))]
    LargerThanDevice {
        /// How many buffers there are.
        workers: u32,
        /// The size of one.
        size: ByteSize,
        /// The device.
        device: String,
        /// What it has.
        total: ByteSize,
        /// The largest size that fits.
        most: Option<ByteSize>,
    },
    /// More than this host can back, which is less than the device has.
    #[error(
        "{workers} buffers of {size} do not fit the {limit} of memory that this host can back; \
         use a --size of at most {}",
        shown(most)
    )]
    LargerThanHost {
        /// How many buffers there are.
        workers: u32,
        /// The size of one.
        size: ByteSize,
        /// What the host can back.
        limit: ByteSize,
        /// The largest size that fits.
        most: Option<ByteSize>,
    },
    /// A device that is not there.
    #[error("there is no {choice}; the devices are {}", known.join(", "))]
    UnknownDevice {
        /// What was asked for.
        choice: DeviceChoice,
        /// What there is.
        known: Vec<String>,
    },
    /// A device that was named twice.
    #[error("{device} is named twice in --devices; name it once and use --processes-per-device")]
    DuplicateDevice {
        /// The device.
        device: String,
    },
    /// More devices than there are.
    #[error("{asked} devices are named in --devices, but there are {there}")]
    TooManyDevices {
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        there: usize,
    },
    /// More devices than a run can have.
    #[error("{asked} devices are named in --devices; at most {MAX_DEVICES} can take part")]
    OverMaximum {
        /// How many were asked for.
        asked: usize,
    },
    /// An empty list of devices.
    #[error("--devices names no device; leave it out to use all")]
    NoDevices,
    /// More workers than a barrier can have.
    #[error("{workers} workers are more than the {max} that can take part; use fewer --processes-per-device")]
    TooManyWorkers {
        /// How many were asked for.
        workers: u64,
        /// How many can take part.
        max: u32,
    },
    /// Ids that do not fit a byte.
    #[error("the ids of {workers} workers do not fit one byte; use --fill pattern")]
    IdsDoNotFit {
        /// How many workers there are.
        workers: u32,
    },
    /// A folder without kernels.
    #[error("{folder} has neither {name}.ptx nor {name}.cubin; name the folder that has one with --kernels", folder = folder.display())]
    NoKernels {
        /// The folder.
        folder: PathBuf,
        /// The name of the kernels.
        name: &'static str,
    },
}

impl UsageError {
    /// The same with another size as the largest that fits.
    pub(crate) fn with_most(mut self, largest: Option<ByteSize>) -> Self {
        if let Self::LargerThanDevice { most, .. } | Self::LargerThanHost { most, .. } = &mut self {
            *most = largest;
        }
        self
    }
}

fn shown(size: &Option<ByteSize>) -> String {
    size.map_or_else(|| "none".to_owned(), |size| size.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_size_names_the_granularity_and_the_next_size() {
        let error = UsageError::Granularity {
            size: ByteSize::mib(3),
            granularity: ByteSize::mib(2),
            next: Some(ByteSize::mib(4)),
        };
        assert_eq!(
            error.to_string(),
            "3 MiB is no multiple of the granularity, which is 2 MiB; the next size that fits is 4 MiB"
        );
    }
}
