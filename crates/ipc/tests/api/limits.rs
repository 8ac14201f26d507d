//! Questions to the host.

use peermap_ipc::limits::{
    available_memory, open_descriptors, open_files, ptrace_scope, raise_open_files, shared_memory_space, usable_cores,
};

#[test]
fn limits_that_suffice_are_left_alone() {
    let before = open_files().unwrap();
    assert!(before.soft <= before.hard);
    assert_eq!(raise_open_files(1).unwrap(), before);
    assert_eq!(open_files().unwrap(), before);
}

#[test]
fn standard_streams_at_least_are_open() {
    assert!(open_descriptors().unwrap() >= 3);
}

#[test]
fn the_host_answers_plausibly() {
    assert!(usable_cores() >= 1);
    assert!(available_memory().unwrap() > 0);
    assert!(ptrace_scope().unwrap().is_none_or(|scope| scope <= 3));
    assert!(shared_memory_space().unwrap().is_none_or(|space| space.free <= space.size));
}
