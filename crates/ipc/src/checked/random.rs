//! Many interleavings of more processes, chosen at random, by shuttle. Its memory is in order; loom looks at the orders.

use std::sync::atomic::Ordering;

use nix::errno::Errno;
use shuttle::sync::atomic::{AtomicU32, fence};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;

use super::sound::sound_word;
use super::stories::{self, BEFORE_THE_WRAP, Death};
use super::world::{Act, World};
use crate::Deadline;
use crate::barrier::{Woken, Word};
use crate::word::Cell;

/// How many interleavings of each story.
const TIMES: usize = 500;
const MEMBERS: u32 = 6;

struct Random;

sound_word!(RandomWord, Ordering::SeqCst);

impl World for Random {
    type Word = RandomWord;

    fn word(value: u32) -> RandomWord {
        RandomWord::new(value)
    }

    fn play(acts: Vec<Act>) {
        let processes: Vec<_> = acts.into_iter().map(thread::spawn).collect();
        processes.into_iter().for_each(|process| process.join().expect("an act does not panic"));
    }
}

#[test]
fn nobody_is_early_and_what_was_written_is_seen() {
    shuttle::check_random(|| stories::nobody_is_early_and_what_was_written_is_seen::<Random>(MEMBERS, 4, 0), TIMES);
}

#[test]
fn the_counter_of_rounds_wraps() {
    let wraps = || stories::nobody_is_early_and_what_was_written_is_seen::<Random>(MEMBERS, 4, BEFORE_THE_WRAP);
    shuttle::check_random(wraps, TIMES);
}

#[test]
fn a_deadline_ends_the_round_for_all_or_for_nobody() {
    shuttle::check_random(|| stories::a_deadline_ends_the_round_for_all_or_for_nobody::<Random>(MEMBERS), TIMES);
}

#[test]
fn a_deadline_ends_what_a_death_left_open() {
    shuttle::check_random(|| stories::a_deadline_ends_what_a_death_left_open::<Random>(MEMBERS), TIMES);
}

#[test]
fn a_death_ends_the_round_for_all_or_for_nobody() {
    for death in [Death::Absent, Death::Arrived, Death::Turned] {
        let story = move || stories::a_death_ends_the_round_for_all_or_for_nobody::<Random>(MEMBERS, death);
        shuttle::check_random(story, TIMES);
    }
}

#[test]
fn a_number_used_twice_counts_once() {
    shuttle::check_random(stories::a_number_used_twice_counts_once::<Random>, TIMES);
}

#[test]
fn one_more_than_all_is_refused() {
    shuttle::check_random(|| stories::one_more_than_all_is_refused::<Random>(MEMBERS), TIMES);
}
