//! Scenarios with real processes on a simulated machine.
//!
//! Workers, the machine and one parent are this executable again: the first argument names the role that it plays instead of
//! running tests.

mod access;
mod ahead;
mod alias;
mod altered;
mod backend;
mod every_call;
mod failures;
mod fault;
mod grow;
mod host_numa;
mod journal;
mod multicast;
mod orphans;
mod parent_calls;
mod pool;
mod recorded;
mod requests;
mod runs;
mod simple;
mod story;
mod stripe;

use std::process::ExitCode;

use peermap_testing::{Arguments, Trial, trials};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some(backend::MACHINE) => backend::play_machine(&args[1], &args[2]),
        Some(backend::WORKER) => backend::play_worker(&args[1]),
        Some(orphans::PARENT) => orphans::play_parent(&args[1], &args[2]),
        _ => peermap_testing::run(&Arguments::from_args(), trials()).exit_code(),
    }
}

fn trials() -> Vec<Trial> {
    trials![
        runs::two_devices_fill_and_verify_in_turn,
        runs::every_combination_of_fill_and_verify_succeeds,
        runs::several_processes_share_a_device,
        runs::devices_that_are_not_connected_are_named_and_the_rest_runs,
        runs::hardware_with_eight_peers_takes_nine_devices,
        runs::measurements_come_after_the_run,
        runs::memory_that_somebody_still_holds_at_the_end_is_a_failure,
        runs::ids_that_only_seem_too_many_are_used,
        runs::workers_too_many_or_too_few_are_dismissed_or_added,
        runs::the_source_of_the_kernels_shows_to_who_asks,
        failures::a_worker_killed_in_any_step_ends_the_run_and_is_named,
        failures::a_worker_that_hangs_is_named_when_the_time_is_over,
        failures::a_refused_call_of_a_worker_is_named,
        failures::what_is_not_modelled_has_its_own_exit_code,
        failures::a_wrong_byte_is_found_on_the_device_and_on_the_host,
        failures::memory_that_a_worker_does_not_give_back_is_a_failure_with_its_maker,
        failures::a_failure_tells_what_was_held_and_what_the_dead_had,
        failures::a_worker_without_a_driver_makes_the_backend_unavailable,
        failures::nothing_of_a_failed_run_is_left_on_the_machine,
        requests::a_size_that_does_not_fit_names_the_granularity_and_the_next_size,
        requests::what_is_larger_than_device_or_host_is_refused,
        requests::unknown_and_unusable_devices_are_refused,
        requests::a_refusal_is_a_report_too,
        requests::an_executable_that_is_gone_is_named,
        requests::ids_above_255_are_refused_if_asked_for,
        every_call::a_worker_makes_the_calls_of_the_story,
        every_call::each_call_refused_as_invalid_ends_the_run_and_is_named,
        every_call::each_call_refused_for_want_of_memory_ends_the_run_and_is_named,
        every_call::each_call_after_a_device_fault_ends_the_run_and_is_named,
        every_call::a_worker_killed_before_any_call_ends_the_run_within_a_second,
        every_call::a_worker_killed_after_any_call_ends_the_run_within_a_second,
        parent_calls::a_parent_makes_the_calls_of_the_story,
        parent_calls::each_refused_call_of_a_parent_ends_the_run_and_is_named,
        parent_calls::each_refused_call_of_a_parent_with_contexts_ends_the_run_and_is_named,
        parent_calls::a_fault_that_stays_is_named_by_the_call_that_met_it_first,
        parent_calls::too_many_peers_cost_a_device_and_not_the_run,
        parent_calls::each_refused_call_of_a_parent_of_simple_ipc_ends_the_run_and_is_named,
        parent_calls::each_refused_call_of_a_parent_of_pool_ipc_ends_the_run_and_is_named,
        recorded::the_calls_of_every_process_are_those_of_the_story,
        recorded::the_processes_share_one_clock,
        recorded::a_mapping_has_its_arguments,
        recorded::a_worker_that_fails_sends_what_it_has,
        recorded::a_worker_whose_driver_does_not_start_sends_its_only_call,
        recorded::a_worker_without_a_driver_has_made_no_call_and_lost_none,
        recorded::a_killed_worker_takes_its_calls_with_it_and_the_others_do_not,
        recorded::a_refused_run_has_the_calls_of_its_parent,
        recorded::measuring_workers_are_told_from_those_of_the_run,
        ahead::workers_are_set_up_before_the_parent_has_any_memory,
        ahead::a_worker_that_dies_before_there_is_any_memory_ends_the_run_and_is_named,
        ahead::a_parent_that_cannot_allocate_ends_the_run_while_its_workers_wait,
        ahead::a_parent_that_allocates_for_too_long_ends_the_run_in_time,
        simple::buffers_of_two_devices_are_handed_round,
        simple::every_combination_of_order_fill_and_verify_succeeds,
        simple::there_may_be_more_or_fewer_steps_than_workers,
        simple::a_size_need_be_no_multiple_of_anything,
        simple::measurements_come_after_the_run,
        simple::without_any_order_the_check_fails_every_time,
        simple::a_single_worker_needs_no_order,
        simple::devices_that_are_not_connected_are_named_and_the_rest_runs,
        simple::what_cannot_be_is_refused_before_any_worker_gets_work,
        simple::nothing_of_a_failed_run_is_left_on_the_machine,
        pool::buffers_of_two_devices_are_handed_round,
        pool::every_combination_of_order_and_verify_succeeds,
        pool::without_any_order_the_check_fails_every_time,
        pool::importers_free_before_the_exporter,
        pool::legacy_handles_of_pool_memory_are_refused,
        pool::memory_that_its_exporter_frees_first_becomes_that_of_another_allocation,
        pool::devices_whose_pools_cannot_be_shared_are_named,
        pool::nothing_of_a_failed_run_is_left_on_the_machine,
        access::each_right_is_tried_from_each_device,
        access::a_try_that_must_fault_has_a_process_of_its_own,
        access::no_fault_changes_a_byte,
        access::one_device_is_enough,
        access::a_try_that_the_rights_do_not_stop_is_a_mismatch,
        access::a_byte_that_changes_under_the_others_is_found,
        access::a_refused_or_killed_worker_is_named,
        access::what_cannot_be_is_refused,
        alias::what_is_defined_is_read_as_written_and_the_rest_is_reported,
        alias::without_a_check_there_is_no_verdict,
        alias::a_check_that_reports_nothing_is_a_mismatch,
        alias::words_that_are_not_as_written_are_a_mismatch,
        alias::a_fence_that_is_missing_is_a_finding,
        alias::a_refused_or_killed_worker_is_named,
        alias::what_cannot_be_is_refused,
        grow::a_vector_grows_in_place_and_elsewhere_without_copying,
        grow::each_refused_call_of_a_growth_leaves_the_vector_as_it_was,
        grow::scattered_chunks_become_one_range,
        grow::sizes_need_be_no_powers_of_two,
        grow::a_byte_that_changes_is_found,
        grow::a_refused_or_killed_worker_is_named,
        grow::what_cannot_be_is_refused,
        stripe::each_balance_adds_every_word_once,
        stripe::stripes_lie_on_all_devices_and_nothing_is_copied_when_the_last_joins,
        stripe::unequal_devices_are_done_at_times_that_lie_closer_if_their_shares_follow_them,
        stripe::one_device_is_enough,
        stripe::a_stripe_on_another_device_is_found,
        stripe::a_byte_that_changes_before_the_last_device_joins_is_found,
        stripe::a_sum_that_is_wrong_is_found,
        stripe::a_refused_or_killed_worker_is_named,
        stripe::what_cannot_be_is_refused,
        host_numa::rights_of_host_and_device_are_apart_and_all_share,
        host_numa::one_worker_is_enough,
        host_numa::kernels_and_cpu_pass_every_check,
        host_numa::a_byte_that_changes_is_found,
        host_numa::a_refused_or_killed_worker_is_named,
        host_numa::what_cannot_be_is_refused,
        multicast::every_rank_sees_what_all_stored_and_comes_to_the_same_norm,
        multicast::one_process_is_all_ranks,
        multicast::a_team_has_the_devices_that_are_asked_for,
        multicast::sizes_are_multiples_of_the_teams_own_granularity,
        multicast::a_team_is_shared_by_descriptor_and_by_fabric_handle,
        multicast::without_fabric_handles_a_team_is_shared_by_descriptor_or_refused,
        multicast::a_size_is_padded_to_the_teams_own_granularity_if_asked_for,
        multicast::devices_without_multicast_are_named,
        multicast::a_rank_that_adds_no_device_is_named_by_who_waits_for_it,
        multicast::the_absence_of_a_rank_that_there_is_not_is_refused,
        multicast::a_rank_that_is_refused_or_dies_before_it_joins_ends_the_run_and_is_named,
        multicast::a_rank_that_hangs_is_named_when_the_time_is_over,
        orphans::no_child_survives_a_parent_killed_while_a_worker_works,
        orphans::no_child_survives_a_parent_killed_in_a_call_of_its_own,
    ]
}
