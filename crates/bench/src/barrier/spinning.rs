//! The barrier that the sleeping one is compared with.

use std::hint::spin_loop;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use peermap_ipc::SharedMemory;

/// The size of the memory of the barrier.
///
/// # Units
/// Bytes.
pub(super) const BYTES: usize = 4096;

/// The counter and the sense lie in cache lines of their own.
const COUNT: usize = 0;
const SENSE: usize = 16;

/// A counter and a sense that turns with each round, and members that spin until it has turned: the usual barrier of
/// samples, which never tells the kernel that a core is free.
pub(crate) struct Spinning {
    memory: SharedMemory,
    members: u32,
}

impl Spinning {
    pub(crate) const fn join(memory: SharedMemory, members: u32) -> Self {
        Self { memory, members }
    }

    pub(crate) fn wait(&self) {
        let words: &[AtomicU32] = self.memory.atomics();
        // Nobody turns the sense before this member has been counted, so this is the sense of the round.
        let sense = words[SENSE].load(Acquire);
        if words[COUNT].fetch_add(1, AcqRel) + 1 == self.members {
            // All others wait for the sense, so nobody counts while the count is set back.
            words[COUNT].store(0, Relaxed);
            words[SENSE].store(sense ^ 1, Release);
            return;
        }
        while words[SENSE].load(Acquire) == sense {
            spin_loop();
        }
    }
}
