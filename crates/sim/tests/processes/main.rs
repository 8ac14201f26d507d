//! A machine in an OS process of its own, and processes that join it.
//!
//! Each child is this executable again: a variable in its environment names the role that it plays instead of running
//! tests. So there is no fork without exec, and a role is an ordinary function.

#[path = "../support/memory.rs"]
mod support;
#[path = "../support/waiting.rs"]
mod waiting_kernel;

mod account;
mod death;
mod house;
mod roles;
mod sharing;
mod strangers;

use std::process::ExitCode;

use peermap_testing::{Arguments, Trial, trials};

fn main() -> ExitCode {
    if let Ok(role) = std::env::var(roles::ROLE) {
        return roles::play(&role);
    }
    // One at a time: a child that another test is just starting would have copies of our sockets and descriptors for a
    // moment, and the machine would see them as open.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    peermap_testing::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    trials![
        sharing::two_processes_see_the_same_bytes,
        sharing::the_bytes_of_a_fill_arrive_only_after_a_wait,
        sharing::a_device_has_one_uuid_and_an_ordinal_per_process,
        sharing::the_grace_between_processes_is_time,
        sharing::a_kernel_waits_for_another_process,
        sharing::a_check_knows_what_other_processes_wrote,
        death::an_importer_reads_on_after_the_exporter_was_killed,
        death::a_killed_importer_frees_what_only_it_held,
        death::a_descriptor_in_a_killed_process_keeps_memory_no_longer,
        death::the_death_of_the_machine_is_an_error_and_no_hang,
        death::the_machine_ends_with_its_client,
        strangers::junk_disconnects_only_who_sent_it,
        strangers::a_stranger_that_floods_and_never_reads_is_let_go,
        strangers::strangers_that_join_and_say_no_more_hold_nobody_up,
        strangers::a_stopped_process_holds_nobody_up,
        strangers::a_stranger_that_leaves_early_harms_nobody,
        strangers::visitors_at_the_window_hold_nobody_up,
        strangers::a_machine_that_cannot_be_made_says_so,
        account::whoever_passes_by_learns_what_a_machine_has_to_tell,
        account::an_answer_that_comes_too_late_is_not_taken_for_the_next,
        account::what_a_killed_process_left_is_told,
    ]
}
