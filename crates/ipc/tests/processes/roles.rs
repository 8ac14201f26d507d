//! The roles that a child can play.

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Duration;

use peermap_ipc::{Channel, Deadline, Spawn, take_inherited};

use crate::{barrier, child, descriptors, limits, parent};

/// Names the role of a child.
pub const ROLE: &str = "PEERMAP_TEST_ROLE";
const PARAMETER: &str = "PEERMAP_TEST_PARAMETER";

/// Long enough for every wait that shall succeed, however busy the machine is.
pub fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A child that will play `role`.
pub fn role(role: &str, parameter: impl ToString) -> Spawn {
    let exe = std::env::current_exe().expect("a process knows its executable");
    Spawn::new(exe).arg0("peermap-test").env(ROLE, role).env(PARAMETER, parameter.to_string())
}

/// What the parent said beside the role.
pub fn parameter() -> String {
    std::env::var(PARAMETER).expect("the parent set it")
}

/// The descriptor that the parent handed over.
pub fn inherited(number: i32) -> OwnedFd {
    take_inherited(number).expect("the parent handed it over")
}

/// The channel that the parent handed over.
pub fn inherited_channel(number: i32) -> Channel {
    Channel::from_fd(inherited(number)).expect("it is a channel")
}

/// Plays a role. A failed assertion ends the process with code 101.
pub fn play(role: &str) -> ExitCode {
    match role {
        "exit" => return ExitCode::from(parameter().parse::<u8>().expect("a code")),
        "abort" => std::process::abort(),
        "pause" => peermap_ipc::pause_process(Duration::from_millis(parameter().parse().expect("a number"))).unwrap(),
        "sleep" => sleep(),
        "barrier_rounds" => barrier::play_rounds(),
        "barrier_once" => barrier::play_once(),
        "parent_of_sleeper" => child::play_parent_of_sleeper(),
        "check_numbers" => child::play_check_numbers(),
        "list_descriptors" => child::play_list_descriptors(),
        "take_twice" => child::play_take_twice(),
        "take_nothing" => child::play_take_nothing(),
        "failed_start" => child::play_failed_start(),
        "print" => child::play_print(),
        "batch_sender" => descriptors::play_batch_sender(),
        "batch_receiver" => descriptors::play_batch_receiver(),
        "flood" => descriptors::play_flood(),
        "truncated" => descriptors::play_truncated(),
        "raise_limit" => descriptors::play_raise_limit(),
        "last_words" => descriptors::play_last_words(),
        "receiver_of_many" => limits::play_receiver_of_many(),
        "stop" => limits::play_stop(),
        "reuse_of_an_id" => limits::play_reuse_of_an_id(),
        "parent_elsewhere" => limits::play_parent_elsewhere(),
        "child_elsewhere" => limits::play_child_elsewhere(),
        "hears_its_parent" => parent::play_hears_its_parent(),
        "passes_a_strangers_channel_on" => parent::play_passes_a_strangers_channel_on(),
        "refuses_a_stranger" => parent::play_refuses_a_stranger(),
        "refuses_the_unproven" => parent::play_refuses_the_unproven(),
        "looks_for_the_proof" => parent::play_looks_for_the_proof(),
        unknown => panic!("there is no role {unknown}"),
    }
    ExitCode::SUCCESS
}

/// Does nothing until it is killed; ends by itself long after the test, in case nobody does.
pub fn sleep() {
    std::thread::sleep(Duration::from_secs(120));
}
