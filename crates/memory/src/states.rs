//! Which granules of an arena have been written.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::slice;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::mapping::Mapping;
use crate::{MemoryError, Part};

/// Never written since it was made or discarded: reads as zero, takes no memory, is not charged.
const FRESH: u8 = 0;
/// Somebody is asking the budget. The others wait, so that a granule is charged exactly once and nobody writes before
/// it is.
const CLAIMED: u8 = 1;
/// Charged, and may have been written.
const WRITTEN: u8 = 2;

/// How long a claim is honoured. It is held for nanoseconds; only a process that was killed or stopped holds it longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// One state per granule, shared by all OS processes that hold the descriptor.
///
/// A byte and not a bit, because a bit cannot say "being charged": whoever saw the bit of another writer set would
/// write before the budget has agreed, and its bytes would be lost, or show up in memory that counts as fresh, if it
/// then refuses.
#[derive(Debug)]
pub(crate) struct States {
    file: OwnedFd,
    states: Mapping,
    granules: usize,
}

impl States {
    pub(crate) fn map(file: OwnedFd, granules: u64) -> Result<Self, MemoryError> {
        let refused = |source| MemoryError::Map { part: Part::Written, bytes: granules, source };
        let states = Mapping::shared(file.as_fd(), granules).map_err(refused)?;
        Ok(Self { file, states, granules: granules as usize })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Whether the granule is charged and may hold something else than zeros.
    #[inline]
    pub(crate) fn is_written(&self, granule: u64) -> bool {
        // Relaxed, because who writes in one process and reads in another has to order the two anyhow.
        self.all()[granule as usize].load(Ordering::Relaxed) == WRITTEN
    }

    /// Makes a granule written, asking `charge` first unless it is written already. A refusal leaves it as it was.
    pub(crate) fn write<E>(
        &self,
        granule: u64,
        patience: Duration,
        charge: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        write(&self.all()[granule as usize], patience, charge)
    }

    /// Whether any granule of the range is written.
    pub(crate) fn any_written(&self, range: Range<u64>) -> bool {
        self.slice(range).iter().any(|state| state.load(Ordering::Relaxed) == WRITTEN)
    }

    /// Makes all written granules of the range fresh again; the number of them.
    pub(crate) fn discard(&self, range: Range<u64>) -> u64 {
        let reset = |state: &&AtomicU8| {
            state.load(Ordering::Relaxed) == WRITTEN
                && state.compare_exchange(WRITTEN, FRESH, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        self.slice(range).iter().filter(reset).count() as u64
    }

    fn slice(&self, range: Range<u64>) -> &[AtomicU8] {
        &self.all()[range.start as usize..range.end as usize]
    }

    #[inline]
    fn all(&self) -> &[AtomicU8] {
        let first = self.states.start().cast::<AtomicU8>().as_ptr();
        // SAFETY: the mapping has `granules` bytes and lives as long as `self`; any bits are valid for atomics, through
        // which all OS processes access it.
        unsafe { slice::from_raw_parts(first, self.granules) }
    }
}

/// A state that several processes change.
pub(crate) trait State {
    fn store(&self, state: u8, order: Ordering);
    fn compare_exchange(&self, current: u8, new: u8, ok: Ordering, failed: Ordering) -> Result<u8, u8>;
    /// Lets others go on.
    fn wait();
}

impl State for AtomicU8 {
    fn store(&self, state: u8, order: Ordering) {
        Self::store(self, state, order);
    }

    fn compare_exchange(&self, current: u8, new: u8, ok: Ordering, failed: Ordering) -> Result<u8, u8> {
        Self::compare_exchange(self, current, new, ok, failed)
    }

    fn wait() {
        thread::yield_now();
    }
}

/// Makes a granule written.
fn write<E>(state: &impl State, patience: Duration, charge: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    if !claim(state, patience) {
        return Ok(());
    }
    let outcome = charge();
    let next = if outcome.is_ok() { WRITTEN } else { FRESH };
    state.store(next, Ordering::Release);
    outcome
}

/// Takes the claim of a granule; false if it turns out to be written. A claim held beyond `patience` is taken over: its
/// owner died, at worst after charging the granule, which then stays charged once too often.
#[cold]
fn claim<S: State>(state: &S, patience: Duration) -> bool {
    let start = Instant::now();
    loop {
        match state.compare_exchange(FRESH, CLAIMED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(WRITTEN) => return false,
            Err(_) if start.elapsed() >= patience => return true,
            Err(_) => S::wait(),
        }
    }
}

#[cfg(test)]
mod checked;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    fn states(granules: u64) -> States {
        let file = file::create(Part::Written, "peermap-test", granules).unwrap();
        States::map(file, granules).unwrap()
    }

    #[test]
    fn a_claim_whose_owner_died_is_taken_over() {
        let states = states(2);
        states.all()[1].store(CLAIMED, Ordering::Relaxed);
        let mut charges = 0;
        let outcome: Result<(), ()> = states.write(1, Duration::ZERO, || {
            charges += 1;
            Ok(())
        });
        assert_eq!((outcome, charges, states.is_written(1)), (Ok(()), 1, true));
    }

    #[test]
    fn a_writer_waits_for_the_claim_of_another() {
        let states = states(1);
        let outcome: Result<(), ()> = states.write(0, PATIENCE, || {
            thread::scope(|scope| {
                let waiting = scope.spawn(|| states.write(0, Duration::from_secs(600), || Err("charged twice")));
                assert!(!states.is_written(0));
                states.all()[0].store(WRITTEN, Ordering::Release);
                assert_eq!(waiting.join().unwrap(), Ok(()));
            });
            Ok(())
        });
        assert_eq!(outcome, Ok(()));
    }

    #[test]
    fn a_refusal_leaves_the_granule_fresh() {
        let states = states(1);
        assert_eq!(states.write(0, PATIENCE, || Err("refused")), Err("refused"));
        assert_eq!(states.all()[0].load(Ordering::Relaxed), FRESH);
    }

    #[test]
    fn only_written_granules_count_as_discarded() {
        let states = states(8);
        let charge = |granule| states.write(granule, PATIENCE, || Ok::<(), ()>(())).unwrap();
        [1, 3, 4, 7].into_iter().for_each(charge);
        assert!(!states.any_written(5..7));
        assert_eq!(states.discard(1..5), 3);
        assert_eq!((0..8).filter(|granule| states.is_written(*granule)).collect::<Vec<_>>(), [7]);
    }
}
