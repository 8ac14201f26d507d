//! What the driver takes of a device's memory for a context and for its streams.

use peermap_driver::{ByteSize, DriverError, Result};

use super::physical::unexpected;
use super::{Outside, Process};
use crate::rules;
use crate::wire::{Answer, Ask};

/// How many streams of a context share what the driver takes for streams.
const STREAMS_TOGETHER: u64 = 4;

impl Process {
    /// What a context with places for so many streams takes. It has one place already where the process sees a single
    /// device. What more than two devices do was not measured.
    fn bytes_of_context(&self, stream_places: u64) -> u64 {
        let there = u64::from(self.visible.len() == 1);
        let groups = stream_places.saturating_sub(there).div_ceil(STREAMS_TOGETHER);
        self.profile.driver_memory.context.get() + groups * self.profile.driver_memory.streams.get()
    }

    /// Takes what a new context needs, or refuses with what is free.
    pub(super) fn take_for_context(
        &self,
        outside: &mut Outside<'_>,
        ordinal: usize,
        refusal: impl FnOnce(ByteSize, ByteSize) -> DriverError,
    ) -> Result<()> {
        self.take_for_driver(outside, ordinal, self.bytes_of_context(0), refusal)
    }

    /// Makes a place for one more stream of a context, unless one that there was is free: only more streams than ever
    /// take more memory.
    pub(super) fn make_place_for_stream(&mut self, outside: &mut Outside<'_>, context: u64) -> Result<()> {
        let needed = self.streams.values().filter(|stream| stream.context == context).count() as u64 + 1;
        let Some(state) = self.contexts.get(&context).filter(|state| state.stream_places < needed) else {
            return Ok(());
        };
        let more = self.bytes_of_context(needed) - self.bytes_of_context(state.stream_places);
        if more > 0 {
            self.take_for_driver(outside, state.ordinal, more, |needed, free| {
                rules::STREAM_4.refuse(&[("needed", &needed), ("free", &free)], None)
            })?;
        }
        if let Some(state) = self.contexts.get_mut(&context) {
            state.stream_places = needed;
        }
        Ok(())
    }

    /// Gives back what a context with places for so many streams took.
    pub(super) fn give_back_of_context(
        &self,
        outside: &mut Outside<'_>,
        ordinal: usize,
        stream_places: u64,
    ) -> Result<()> {
        let bytes = ByteSize::new(self.bytes_of_context(stream_places));
        match outside.machine.ask(Ask::GiveBackOfDriver { device: self.visible[ordinal], bytes })? {
            Answer::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    fn take_for_driver(
        &self,
        outside: &mut Outside<'_>,
        ordinal: usize,
        bytes: u64,
        refusal: impl FnOnce(ByteSize, ByteSize) -> DriverError,
    ) -> Result<()> {
        let bytes = ByteSize::new(bytes);
        match outside.machine.ask(Ask::TakeForDriver { device: self.visible[ordinal], bytes })? {
            Answer::Done => Ok(()),
            Answer::OutOfMemory { free } => Err(refusal(bytes, free)),
            other => Err(unexpected(&other)),
        }
    }
}
