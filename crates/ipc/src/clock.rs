//! When and where something happens, in numbers that mean the same in every process of the host.

use nix::time::{ClockId, clock_gettime};
use nix::unistd::gettid;

thread_local! {
    /// A thread keeps its number for its whole life, and to ask the kernel each time would cost more than most of what is
    /// timed.
    static THREAD: u32 = gettid().as_raw().cast_unsigned();
}

/// The time on the clock that all processes of the host share.
///
/// # Units
/// Nanoseconds since some moment before all of them, such as the start of the host.
///
/// # Panics
/// Never on Linux, which has this clock.
///
/// # Source
/// `CLOCK_MONOTONIC` in clock_gettime(2).
#[must_use]
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has a monotonic clock");
    time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_nsec().cast_unsigned()
}

/// The number of the calling thread. That of a process's first thread is the number of the process.
#[must_use]
pub fn thread_id() -> u32 {
    THREAD.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on_and_never_back() {
        let first = monotonic_ns();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(monotonic_ns() >= first + 2_000_000);
    }

    #[test]
    fn each_thread_has_a_number_of_its_own_and_keeps_it() {
        let other = std::thread::spawn(thread_id).join().unwrap();
        assert_ne!(other, thread_id());
        assert_eq!(thread_id(), thread_id());
    }
}
