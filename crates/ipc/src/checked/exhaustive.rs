//! Every interleaving of few processes, by loom.
//!
//! Two kinds of words, because what makes a sleep safe also orders memory, and would hide an order that is missing: one
//! whose sleeper only lets others go first, for the orders of memory, and one whose sleeper needs to be woken.

use std::sync::atomic::Ordering;

use loom::model::Builder;
use loom::sync::atomic::{AtomicU32, fence};
use loom::sync::{Condvar, Mutex};
use loom::thread;
use nix::errno::Errno;

use super::sound::sound_word;
use super::stories::{self, BEFORE_THE_WRAP, Death};
use super::world::{Act, World};
use crate::Deadline;
use crate::barrier::{Woken, Word};
use crate::word::Cell;

/// Words whose sleepers wake by themselves all the time.
struct Restless;

/// Words whose sleepers sleep until somebody wakes them; a sleeper that is forgotten is a deadlock.
struct Sound;

struct RestlessWord(AtomicU32);

sound_word!(SoundWord, Ordering::Relaxed);

impl Cell for RestlessWord {
    fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
    }
}

impl Word for RestlessWord {
    fn compare_exchange(&self, current: u32, new: u32, ok: Ordering, failed: Ordering) -> Result<u32, u32> {
        self.0.compare_exchange(current, new, ok, failed)
    }

    fn fence() {
        fence(Ordering::SeqCst);
    }

    fn spin() {
        thread::yield_now();
    }

    fn sleep_while(&self, _value: u32, deadline: Deadline) -> Result<Woken, Errno> {
        thread::yield_now();
        Ok(if deadline.has_passed() { Woken::DeadlinePassed } else { Woken::LookAgain })
    }

    fn wake_all(&self) -> Result<(), Errno> {
        Ok(())
    }
}

impl World for Restless {
    type Word = RestlessWord;

    fn word(value: u32) -> RestlessWord {
        RestlessWord(AtomicU32::new(value))
    }

    fn play(acts: Vec<Act>) {
        play(acts);
    }
}

impl World for Sound {
    type Word = SoundWord;

    fn word(value: u32) -> SoundWord {
        SoundWord::new(value)
    }

    fn play(acts: Vec<Act>) {
        play(acts);
    }
}

fn play(acts: Vec<Act>) {
    let processes: Vec<_> = acts.into_iter().map(thread::spawn).collect();
    processes.into_iter().for_each(|process| process.join().expect("an act does not panic"));
}

/// Every interleaving in which the kernel takes the core from a running process at most `switches` times.
fn within(switches: usize, story: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(switches);
    builder.check(story);
}

#[test]
fn nobody_is_early_and_what_was_written_is_seen() {
    within(3, || stories::nobody_is_early_and_what_was_written_is_seen::<Restless>(2, 2, 0));
    within(2, || stories::nobody_is_early_and_what_was_written_is_seen::<Sound>(3, 1, 0));
    within(3, || stories::nobody_is_early_and_what_was_written_is_seen::<Sound>(2, 2, 0));
}

#[test]
fn the_counter_of_rounds_wraps() {
    within(2, || stories::nobody_is_early_and_what_was_written_is_seen::<Restless>(2, 3, BEFORE_THE_WRAP));
}

#[test]
fn a_deadline_ends_the_round_for_all_or_for_nobody() {
    within(3, || stories::a_deadline_ends_the_round_for_all_or_for_nobody::<Restless>(2));
    within(2, || stories::a_deadline_ends_the_round_for_all_or_for_nobody::<Sound>(3));
}

#[test]
fn a_deadline_ends_what_a_death_left_open() {
    within(2, || stories::a_deadline_ends_what_a_death_left_open::<Sound>(3));
}

#[test]
fn a_death_ends_the_round_for_all_or_for_nobody() {
    for death in [Death::Absent, Death::Arrived, Death::Turned] {
        within(2, move || stories::a_death_ends_the_round_for_all_or_for_nobody::<Sound>(3, death));
    }
}

#[test]
fn a_number_used_twice_counts_once() {
    within(2, stories::a_number_used_twice_counts_once::<Restless>);
}

#[test]
fn one_more_than_all_is_refused() {
    within(2, || stories::one_more_than_all_is_refused::<Sound>(2));
}
