//! Work on fewer cores than there are.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Runs something on the first `count` cores that this thread may use; threads that it starts inherit that. `None` if there
/// are fewer.
///
/// # Panics
/// If the kernel refuses to bind a thread to cores that it may use.
pub fn on_cores<T>(count: usize, work: impl FnOnce() -> T) -> Option<T> {
    let all = sched_getaffinity(None).expect("a thread knows its cores");
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).take(count).collect();
    if usable.len() < count {
        return None;
    }
    let mut some = CpuSet::new();
    usable.iter().for_each(|core| some.set(*core));
    sched_setaffinity(None, &some).expect("these cores are ours");
    let done = work();
    sched_setaffinity(None, &all).expect("these cores were ours before");
    Some(done)
}
