//! The real driver, asked the questions that the recorded traces answer.
//!
//! Where no device is there every test is listed as ignored, which is decided while listing: a skip is never a pass.
//! The tests run one after the other, because the driver's state belongs to the process; `--test-threads` changes that.

mod alloc;
mod context;
mod device;
mod forms;
mod memory;
mod module;
mod rig;
mod share;
mod stream;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

macro_rules! tests {
    ($($module:ident: $($name:ident,)*;)*) => {
        &[$($((concat!(stringify!($module), "::", stringify!($name)), $module::$name as fn()),)*)*]
    };
}

const TESTS: &[(&str, fn())] = tests! {
    device:
        init_may_be_called_again,
        a_device_says_who_it_is,
        the_bus_id_agrees_with_the_attributes,
        attributes_are_numbers_and_unknown_ones_are_refused,
        a_device_that_is_not_there_is_refused,
        no_device_is_its_own_peer,
        the_driver_gives_codes_the_names_they_have_here,
        a_code_without_a_name_is_refused,
    ;
    context:
        contexts_form_a_stack_per_thread,
        a_destroyed_context_leaves_its_thread_without_one,
        the_primary_context_is_one_and_does_not_become_current,
        peer_access_to_the_same_device_is_refused,
    ;
    stream:
        an_event_marks_the_work_of_its_stream,
        unknown_flags_are_refused,
        time_passes_between_two_events,
        an_event_without_timing_gives_no_time,
        pinned_buffers_go_to_the_device_and_back,
    ;
    memory:
        the_granularity_is_2_mib_whatever_is_asked,
        memory_is_created_mapped_filled_read_and_given_back,
        fresh_memory_reads_as_zero,
        copies_carry_every_byte,
        sizes_and_rights_that_the_driver_refuses,
        a_mapping_takes_the_whole_allocation,
        rights_are_none_until_they_are_set,
        copies_without_access_are_refused_and_the_context_lives,
        a_retained_handle_is_the_mapped_one,
        the_cpu_reaches_memory_of_the_host_by_rights_of_its_own,
    ;
    share:
        an_imported_handle_sees_the_same_bytes,
        a_descriptor_alone_keeps_the_memory,
        ten_thousand_shares_leave_nothing,
        an_exported_descriptor_is_closed_on_exec,
        exports_that_the_driver_refuses,
        imports_that_the_driver_refuses,
        legacy_handles_are_for_allocated_memory_only,
    ;
    alloc:
        an_address_inside_an_allocation_leads_to_its_start,
        an_address_inside_a_mapping_leads_to_its_start,
        sizes_and_addresses_that_the_driver_refuses,
        free_memory_is_part_of_the_total,
    ;
    module:
        kernels_fill_and_verify,
        a_kernel_knows_what_it_needs,
        broken_ptx_is_refused_and_the_log_says_why,
        ptx_of_a_later_version_is_refused,
        ptx_for_a_later_device_is_refused,
        what_is_no_code_is_refused,
        an_entry_that_is_not_there_is_not_found,
        a_kernel_knows_what_it_was_written_for,
        a_function_that_nobody_has_is_refused,
        the_compiler_tells_more_when_it_is_asked_to,
        the_host_finds_the_variables_of_a_module,
        launches_that_the_driver_refuses,
    ;
    forms:
        the_device_computes_integers_as_the_table_says,
        the_device_computes_numbers_as_the_table_says,
    ;
};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(1);
    let absent = !peermap_cuda::hardware_present();
    let trials = TESTS.iter().map(|(name, test)| {
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(*name, run).with_ignored_flag(absent)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
