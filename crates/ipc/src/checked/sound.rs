//! A word whose sleepers sleep until somebody wakes them, over the atomics and locks of whichever checker has them in scope.

/// Declares such a word, which looks at itself in this order before it sleeps.
macro_rules! sound_word {
    ($name:ident, $looks:expr) => {
        struct $name {
            number: AtomicU32,
            bed: Mutex<()>,
            call: Condvar,
        }

        impl Cell for $name {
            fn load(&self, order: Ordering) -> u32 {
                self.number.load(order)
            }

            fn store(&self, value: u32, order: Ordering) {
                self.number.store(value, order);
            }
        }

        impl Word for $name {
            fn compare_exchange(&self, current: u32, new: u32, ok: Ordering, failed: Ordering) -> Result<u32, u32> {
                self.number.compare_exchange(current, new, ok, failed)
            }

            fn fence() {
                fence(Ordering::SeqCst);
            }

            fn spin() {
                thread::yield_now();
            }

            fn sleep_while(&self, value: u32, deadline: Deadline) -> Result<Woken, Errno> {
                if deadline.has_passed() {
                    return Ok(Woken::DeadlinePassed);
                }
                let bed = self.bed.lock().expect("nobody panics with it");
                if self.number.load($looks) == value {
                    drop(self.call.wait(bed).expect("nobody panics with it"));
                }
                Ok(Woken::LookAgain)
            }

            fn wake_all(&self) -> Result<(), Errno> {
                drop(self.bed.lock().expect("nobody panics with it"));
                self.call.notify_all();
                Ok(())
            }
        }

        impl $name {
            fn new(value: u32) -> Self {
                Self { number: AtomicU32::new(value), bed: Mutex::new(()), call: Condvar::new() }
            }
        }
    };
}
pub(super) use sound_word;
