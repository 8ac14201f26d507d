//! Processes of a trace that are OS processes, on drivers that hang, crash and end their process.
//!
//! Each child is this executable again, with an argument that makes it a player instead of a list of tests.

#[expect(dead_code, reason = "each test uses a part")]
#[path = "../support/mod.rs"]
mod support;

mod ends;
mod misbehaving;
mod stage;

use std::process::ExitCode;

use peermap_testing::{Arguments, Trial, trials};

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == stage::PLAYER) {
        return misbehaving::play();
    }
    // One at a time: a child that another test is just starting would have copies of our descriptors for a moment.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    peermap_testing::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    trials![
        ends::a_crash_of_a_real_driver_matches_a_recorded_one,
        ends::a_crash_of_a_simulator_never_matches,
        ends::another_signal_has_its_own_name,
        ends::a_step_that_hangs_ends_with_its_process,
        ends::a_process_that_ends_by_itself_gives_no_answer,
        ends::a_process_that_has_ended_makes_no_more_calls,
        ends::a_process_that_cannot_open_its_driver_is_not_started,
        ends::a_process_that_dies_at_its_start_is_lost,
        ends::a_process_that_does_not_start_in_time_is_lost,
        ends::the_descriptors_of_a_killed_process_are_closed_before_the_next_step,
        ends::a_sent_descriptor_outlives_its_sender_and_nobody_else_keeps_it,
        ends::a_closed_descriptor_reaches_the_driver_by_its_own_number,
        ends::a_step_that_no_packet_holds_is_not_played,
        ends::what_is_wrong_with_a_step_arrives_in_words,
    ]
}
