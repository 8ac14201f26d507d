//! How fast bytes move: on a device, between devices, and between host and device.
//!
//! Work on devices is timed by events around several repetitions; a copy counts its bytes once. Memory that was mapped, imported
//! and taken from `cuMemAlloc` is measured side by side, so that a slow path shows.

mod device;
mod host;
mod peer;

use peermap_driver::{Driver, Stream};
use peermap_scenario::StreamTimer;

use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Planned, Suite};

/// The suite.
pub(crate) struct Bandwidth;

impl Suite for Bandwidth {
    fn name(&self) -> &'static str {
        "bandwidth"
    }

    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
        [device::plan(rig), peer::plan(rig), host::plan(rig)].into_iter().flatten().collect()
    }
}

/// A stream with a timer; both go with it.
struct Timed<'d> {
    driver: &'d dyn Driver,
    stream: Stream,
    timer: Option<StreamTimer<'d>>,
}

impl<'d> Timed<'d> {
    fn new(driver: &'d dyn Driver) -> Result<Self, BenchError> {
        const NON_BLOCKING: u32 = 1;
        let stream = driver.stream_create(NON_BLOCKING)?;
        let timer = StreamTimer::new(driver, stream).map(Some);
        let mut timed = Self { driver, stream, timer: None };
        timed.timer = timer?;
        Ok(timed)
    }

    /// The rate at which `work` moves so many bytes, when it is done so often in a row.
    fn rate(&self, bytes: u64, times: u32, work: &dyn Fn() -> peermap_driver::Result<()>) -> Result<f64, BenchError> {
        let Some(timer) = &self.timer else { return Ok(f64::NAN) };
        timer.around(|| (0..times).try_for_each(|_| work()))?;
        self.driver.stream_synchronize(self.stream)?;
        // Events tell half a microsecond apart; less is no time that was measured.
        let milliseconds = timer.milliseconds()?.max(0.000_5);
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown with three digits")]
        let bytes = (bytes * u64::from(times)) as f64;
        Ok(bytes / milliseconds / 1e6)
    }
}

impl Drop for Timed<'_> {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            drop(timer.destroy());
        }
        drop(self.driver.stream_destroy(self.stream));
    }
}

/// How often work on so many bytes is repeated between two events, so that their resolution does not matter.
fn repetitions(bytes: u64) -> u32 {
    const ENOUGH: u64 = 256 << 20;
    u32::try_from(ENOUGH / bytes.max(1)).unwrap_or(u32::MAX).clamp(1, 64)
}
