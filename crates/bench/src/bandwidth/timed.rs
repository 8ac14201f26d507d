//! A stream whose work is timed by events.

use peermap_driver::{Driver, Event, Stream};
use peermap_scenario::StreamTimer;

use crate::error::BenchError;

/// For an event that only orders.
const DISABLE_TIMING: u32 = 2;

/// A stream of the context that was current, with a timer; both go with it.
pub struct TimedStream<'d> {
    driver: &'d dyn Driver,
    pub(super) stream: Stream,
    timer: Option<StreamTimer<'d>>,
    /// Says to streams of other contexts where this one is.
    mark: Option<Event>,
}

impl<'d> TimedStream<'d> {
    /// A stream of the current context.
    ///
    /// # Errors
    /// If the driver refuses it or an event.
    pub fn new(driver: &'d dyn Driver) -> Result<Self, BenchError> {
        const NON_BLOCKING: u32 = 1;
        let stream = driver.stream_create(NON_BLOCKING)?;
        let timer = StreamTimer::new(driver, stream).map(Some);
        let mut timed = Self { driver, stream, timer: None, mark: None };
        timed.timer = timer?;
        timed.mark = Some(driver.event_create(DISABLE_TIMING)?);
        Ok(timed)
    }

    /// Starts the clock where the stream is now: what is queued before does not count.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn begin(&self) -> peermap_driver::Result<()> {
        self.timer.as_ref().map_or(Ok(()), StreamTimer::begin)
    }

    /// Waits for what was queued since [`begin`](Self::begin); gives how long the device took for it, in nanoseconds.
    ///
    /// # Errors
    /// If the driver refuses, or the work failed.
    pub fn end(&self) -> peermap_driver::Result<f64> {
        let Some(timer) = &self.timer else { return Ok(f64::NAN) };
        timer.end()?;
        self.driver.stream_synchronize(self.stream)?;
        // Events tell half a microsecond apart; less is no time that was measured.
        Ok(timer.milliseconds()?.max(0.000_5) * 1e6)
    }

    /// The rate at which `work` moves so many bytes, when it is done so often in a row.
    pub(super) fn rate(
        &self,
        bytes: u64,
        times: u32,
        work: &dyn Fn() -> peermap_driver::Result<()>,
    ) -> Result<f64, BenchError> {
        self.begin()?;
        (0..times).try_for_each(|_| work())?;
        let nanoseconds = self.end()?;
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown with three digits")]
        let bytes = (bytes * u64::from(times)) as f64;
        Ok(bytes / nanoseconds)
    }

    /// The same for work on this stream and on others, of other contexts too: they begin together, and the time ends when the last
    /// of them has ended.
    pub(super) fn rate_with(
        &self,
        others: &[&Self],
        bytes: u64,
        work: &dyn Fn() -> peermap_driver::Result<()>,
    ) -> Result<f64, BenchError> {
        self.rate(bytes, 1, &|| {
            self.record()?;
            others.iter().try_for_each(|other| other.wait_for(self))?;
            work()?;
            others.iter().try_for_each(|other| {
                other.record()?;
                self.wait_for(other)
            })
        })
    }

    /// Marks where this stream is now.
    fn record(&self) -> peermap_driver::Result<()> {
        self.mark.map_or(Ok(()), |mark| self.driver.event_record(mark, self.stream))
    }

    /// Has this stream wait for the mark of another.
    fn wait_for(&self, other: &Self) -> peermap_driver::Result<()> {
        other.mark.map_or(Ok(()), |mark| self.driver.stream_wait_event(self.stream, mark, 0))
    }
}

impl Drop for TimedStream<'_> {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            drop(timer.destroy());
        }
        if let Some(mark) = self.mark.take() {
            drop(self.driver.event_destroy(mark));
        }
        drop(self.driver.stream_destroy(self.stream));
    }
}
