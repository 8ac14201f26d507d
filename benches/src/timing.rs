//! Times of work that runs in turns.

use std::time::{Duration, Instant};

/// How long `work` takes.
pub fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The middle one of some times, the lower of the two in the middle if their number is even.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn median(mut times: Vec<Duration>) -> Duration {
    assert!(!times.is_empty(), "a median needs a time");
    times.sort_unstable();
    times[(times.len() - 1) / 2]
}

/// The medians of two kinds of work that take turns, so that whatever slows the machine down meets both.
pub fn in_turns(turns: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> (Duration, Duration) {
    let (ones, others) = (0..turns).map(|_| (time(&mut one), time(&mut other))).unzip();
    (median(ones), median(others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_times_whatever_their_order() {
        let times = |list: &[u64]| list.iter().copied().map(Duration::from_nanos).collect::<Vec<_>>();
        assert_eq!(median(times(&[9, 1, 5])), Duration::from_nanos(5));
        assert_eq!(median(times(&[9, 1, 5, 2])), Duration::from_nanos(2));
        assert_eq!(median(times(&[4])), Duration::from_nanos(4));
    }

    #[test]
    fn turns_alternate_and_each_side_gets_as_many() {
        let order = std::cell::RefCell::new(String::new());
        in_turns(3, || order.borrow_mut().push('a'), || order.borrow_mut().push('b'));
        assert_eq!(order.into_inner(), "ababab");
    }
}
