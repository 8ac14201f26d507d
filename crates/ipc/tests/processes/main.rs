//! Tests that need several real processes.
//!
//! Each child is this executable again: a variable in its environment names the role that it plays instead of running
//! tests. So there is no fork without exec, and a role is an ordinary function.

mod barrier;
mod child;
mod descriptors;
mod limits;
mod parent;
mod roles;
mod wait_any;

use std::process::ExitCode;

use peermap_testing::{Arguments, Trial, lack_of_namespaces, trials, unless_lacking};

fn main() -> ExitCode {
    if let Ok(role) = std::env::var(roles::ROLE) {
        return roles::play(&role);
    }
    peermap_testing::run(&Arguments::from_args(), trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let lack = lack_of_namespaces(&limits::CHILDREN_ELSEWHERE);
    anywhere().into_iter().chain(in_namespaces().into_iter().map(|trial| unless_lacking(lack, trial))).collect()
}

/// Tests that need pid namespaces.
fn in_namespaces() -> Vec<Trial> {
    trials![
        limits::a_process_id_that_is_used_again_is_no_child_of_ours,
        limits::a_parent_in_another_pid_namespace_is_known_and_its_end_is_that_of_its_child,
    ]
}

fn anywhere() -> Vec<Trial> {
    trials![
        barrier::eight_processes_pass_a_thousand_rounds_and_nobody_is_early,
        barrier::a_killed_member_is_named_to_all_who_wait,
        barrier::a_timeout_names_the_process_that_did_not_come,
        child::it_ends_with_its_code_or_its_signal,
        child::it_is_killed_when_its_parent_is_killed,
        child::its_descriptors_get_their_numbers_even_in_a_circle,
        child::it_inherits_nothing_else,
        child::it_takes_a_descriptor_once_and_its_own_child_not_at_all,
        child::waiting_past_the_deadline_is_an_error_and_it_runs_on,
        child::dropping_it_leaves_no_zombie,
        child::its_name_and_arguments_arrive_and_its_output_can_be_read,
        child::a_missing_executable_is_named,
        child::a_failed_start_is_reported_whatever_the_target_numbers,
        descriptors::forty_pass_in_batches_between_ordinary_users_with_64_open_files,
        descriptors::an_ordinary_user_with_too_many_in_flight_is_told,
        descriptors::a_receiver_without_free_numbers_is_told_to_raise_the_limit,
        descriptors::the_limit_is_raised_up_to_the_hard_one,
        descriptors::the_death_of_a_peer_is_a_hang_up,
        descriptors::the_last_words_of_a_peer_are_heard,
        limits::a_thousand_and_24_descriptors_pass_in_batches_of_253,
        limits::a_process_that_stops_itself_is_stopped_and_goes_on,
        limits::a_stopped_child_ends_when_it_is_dropped,
        limits::a_stopped_member_is_named_at_the_deadline,
        limits::one_of_300_children_that_is_killed_is_noticed_within_100_ms,
        parent::its_channel_carries_what_the_parent_says,
        parent::a_channel_that_another_process_made_is_refused,
        parent::a_channel_over_which_nothing_is_proven_is_refused,
        parent::what_proves_it_is_for_the_eyes_of_its_user_only,
        wait_any::it_says_which_child_ended_and_says_it_once,
        wait_any::it_says_which_descriptor_is_readable,
        wait_any::it_ends_at_the_deadline_and_refuses_to_wait_for_nothing,
    ]
}
