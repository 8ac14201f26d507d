//! Hosts that allow little, each with a real run on the simulator.

mod lack;
mod many;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use peermap_testing::{Arguments, Trial, lack_of_namespaces, trials, unless_lacking};

fn main() -> ExitCode {
    // One at a time: what one takes of the host another would lack.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    peermap_testing::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let namespaces = lack_of_namespaces(&lack::MOUNTS);
    let anywhere = trials![
        lack::a_soft_limit_of_64_open_files_is_raised,
        lack::a_hard_limit_of_64_open_files_is_told_with_the_number_that_is_needed,
        lack::seccomp_without_pidfd_getfd,
        lack::no_capability_to_trace,
        many::three_hundred_workers_on_the_cores_of_this_host,
        many::one_of_300_workers_that_is_killed_ends_the_run_within_a_second,
    ];
    let in_namespaces = trials![
        lack::shared_memory_of_64_kib,
        lack::shared_memory_of_nothing,
        lack::a_folder_for_temporary_files_that_cannot_be_written,
        lack::a_pid_namespace_of_its_own,
    ];
    anywhere.into_iter().chain(in_namespaces.into_iter().map(|trial| unless_lacking(namespaces, trial))).collect()
}
