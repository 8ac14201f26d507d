//! Clocks.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime};

use peermap_ptx::SpecialRegister;

use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::step::TimerStep;

/// When this OS process first asked for the time: by a clock that never goes back, and in nanoseconds since 1970.
static START: LazyLock<(Instant, u64)> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (Instant::now(), since.as_nanos() as u64)
});

/// Whether a special register is a clock.
pub(crate) fn is_clock(register: SpecialRegister) -> bool {
    use SpecialRegister as S;
    matches!(register, S::Clock | S::ClockHi | S::Clock64 | S::GlobalTimer | S::GlobalTimerLow | S::GlobalTimerHigh)
}

/// Carries out the reading of a clock: all lanes read it at once. A cycle takes a nanosecond.
pub(crate) fn timer(step: &TimerStep, frame: &mut Frame, mask: &Mask) {
    use SpecialRegister as S;
    let (start, epoch) = *START;
    let passed = start.elapsed().as_nanos() as u64;
    let value = match step.clock {
        S::GlobalTimer => epoch + passed,
        S::GlobalTimerLow => (epoch + passed) & 0xFFFF_FFFF,
        S::GlobalTimerHigh => (epoch + passed) >> 32,
        S::Clock => passed & 0xFFFF_FFFF,
        S::ClockHi => passed >> 32,
        _ => passed,
    };
    let value = value << (64 - step.bits) >> (64 - step.bits);
    if !mask.is_empty() {
        frame.set(step.target, mask, value);
    }
}
