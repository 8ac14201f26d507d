//! A process that stops itself, as one does that is stopped from outside.

use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{SigEvent, SigevNotify, Signal, raise};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

use crate::IpcError;

/// Stops this process, all its threads, for a time. It gets SIGSTOP, and a timer of the kernel sends it SIGCONT: that wakes it
/// although it is stopped.
///
/// # Errors
/// [`IpcError::System`] if the kernel makes no timer; nothing is stopped then.
pub fn pause_process(time: Duration) -> Result<(), IpcError> {
    let failed = |call: &'static str| move |errno: Errno| IpcError::from_call(call, errno);
    let wakes = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGCONT, si_value: 0 });
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, wakes).map_err(failed("timer_create"))?;
    // Again and again: on a busy host the first may come before the stop does. A time of zero would be never.
    let time = time.max(Duration::from_millis(1)).into();
    timer.set(Expiration::Interval(time), TimerSetTimeFlags::empty()).map_err(failed("timer_settime"))?;
    raise(Signal::SIGSTOP).map_err(failed("raise"))
}
