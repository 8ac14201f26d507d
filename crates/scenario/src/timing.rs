//! Times: of the host, and of work on a device.

use std::time::{Duration, Instant};

use peermap_driver::{Driver, Event, Result, Stream};

/// The time since a moment, in milliseconds.
pub(crate) fn ms_since(moment: Instant) -> f64 {
    moment.elapsed().as_secs_f64() * 1e3
}

/// Whole milliseconds, as many as fit.
pub(crate) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The value in the middle; of an even number the mean of the two.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    match values.len() % 2 {
        0 => Some(f64::midpoint(values[middle - 1], upper)),
        _ => Some(upper),
    }
}

/// Measures how long work on a stream takes, with two events.
pub struct StreamTimer<'d> {
    driver: &'d dyn Driver,
    stream: Stream,
    begin: Event,
    end: Event,
}

impl<'d> StreamTimer<'d> {
    /// A timer for a stream of the current context.
    pub fn new(driver: &'d dyn Driver, stream: Stream) -> Result<Self> {
        // Flags 0: with timing, which is what an event is for here.
        Ok(Self { driver, stream, begin: driver.event_create(0)?, end: driver.event_create(0)? })
    }

    /// Queues `work` between the two events.
    pub fn around(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.begin()?;
        work()?;
        self.end()
    }

    /// Queues the event before the work, for work that is queued piece by piece.
    pub fn begin(&self) -> Result<()> {
        self.driver.event_record(self.begin, self.stream)
    }

    /// Queues the event behind the work.
    pub fn end(&self) -> Result<()> {
        self.driver.event_record(self.end, self.stream)
    }

    /// How long the work took that was queued last, in milliseconds. It has ended by now.
    pub fn milliseconds(&self) -> Result<f64> {
        Ok(f64::from(self.driver.event_elapsed_time(self.begin, self.end)?))
    }

    /// Gives the events back.
    pub fn destroy(self) -> Result<()> {
        self.driver.event_destroy(self.begin)?;
        self.driver.event_destroy(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
