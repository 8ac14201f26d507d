//! What the driver takes of a device's memory for a context and for its streams.

use peermap_driver::{ByteSize, DriverError, Result};

use super::physical::unexpected;
use super::{Outside, Process};
use crate::wire::{Answer, Ask};

/// How many streams of a context share what the driver takes for streams.
const STREAMS_TOGETHER: u64 = 4;

/// The streams of a context. A place that a stream had is for the next one: only more streams than ever take more memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StreamPlaces {
    used: u64,
    made: u64,
}

impl StreamPlaces {
    /// With one more stream.
    pub(super) fn and_one(self) -> Self {
        Self { used: self.used + 1, made: self.made.max(self.used + 1) }
    }

    /// With one stream less.
    pub(super) const fn less_one(self) -> Self {
        Self { used: self.used.saturating_sub(1), made: self.made }
    }
}

impl Process {
    /// What the places for streams take. A context has one already where the process sees a single device. What more than
    /// two devices do was not measured.
    fn bytes_of(&self, places: StreamPlaces) -> u64 {
        let there = u64::from(self.visible.len() == 1);
        let groups = places.made.saturating_sub(there).div_ceil(STREAMS_TOGETHER);
        groups * self.profile.driver_memory.streams.get()
    }

    /// Takes what a new context needs, or refuses with what is free.
    pub(super) fn take_for_context(
        &self,
        outside: &mut Outside<'_>,
        ordinal: usize,
        refusal: impl FnOnce(ByteSize, ByteSize) -> DriverError,
    ) -> Result<()> {
        self.take_for_driver(outside, ordinal, self.profile.driver_memory.context, refusal)
    }

    /// Takes what a context needs to go from some places for streams to others, or refuses with what is free.
    pub(super) fn take_for_streams(
        &self,
        outside: &mut Outside<'_>,
        ordinal: usize,
        (from, to): (StreamPlaces, StreamPlaces),
        refusal: impl FnOnce(ByteSize, ByteSize) -> DriverError,
    ) -> Result<()> {
        let bytes = ByteSize::new(self.bytes_of(to) - self.bytes_of(from));
        self.take_for_driver(outside, ordinal, bytes, refusal)
    }

    /// Gives back what a context and its streams took.
    pub(super) fn give_back_of_context(
        &self,
        outside: &mut Outside<'_>,
        ordinal: usize,
        places: StreamPlaces,
    ) -> Result<()> {
        let bytes = ByteSize::new(self.profile.driver_memory.context.get() + self.bytes_of(places));
        match outside.machine.ask(Ask::GiveBackOfDriver { device: self.visible[ordinal], bytes })? {
            Answer::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    fn take_for_driver(
        &self,
        outside: &mut Outside<'_>,
        ordinal: usize,
        bytes: ByteSize,
        refusal: impl FnOnce(ByteSize, ByteSize) -> DriverError,
    ) -> Result<()> {
        if bytes.is_zero() {
            return Ok(());
        }
        match outside.machine.ask(Ask::TakeForDriver { device: self.visible[ordinal], bytes })? {
            Answer::Done => Ok(()),
            Answer::OutOfMemory { free } => Err(refusal(bytes, free)),
            other => Err(unexpected(&other)),
        }
    }
}
