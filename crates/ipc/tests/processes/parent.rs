//! A child takes a channel from its parent and from nobody else.

use std::fs;
use std::os::unix::fs::MetadataExt;

use peermap_ipc::{Channel, ChildError, Exit};

use crate::roles::{inherited, patience, role};

const CHANNEL: i32 = 3;
const OTHER: i32 = 4;

pub fn its_channel_carries_what_the_parent_says() {
    let (child, channel) = role("hears_its_parent", "").connect(CHANNEL).unwrap();
    let mut child = child.spawn().unwrap();
    channel.send(b"hello", &[], patience()).unwrap();
    assert_eq!(channel.recv(0, patience()).unwrap().payload, b"hello");
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_hears_its_parent() {
    let channel = Channel::to_parent(CHANNEL).unwrap();
    let heard = channel.recv(0, patience()).unwrap();
    channel.send(&heard.payload, &[], patience()).unwrap();
}

pub fn a_channel_that_another_process_made_is_refused() {
    let (_ours, theirs) = Channel::pair().unwrap();
    let mut between = role("passes_a_strangers_channel_on", std::process::id());
    between = between.inherit(theirs.into_fd(), CHANNEL);
    assert_eq!(between.spawn().unwrap().wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_passes_a_strangers_channel_on() {
    let stranger = crate::roles::parameter();
    // A channel of its own too, so that there is a proof.
    let (child, _channel) = role("refuses_a_stranger", stranger).connect(OTHER).unwrap();
    let mut child = child.inherit(inherited(CHANNEL), CHANNEL).spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_refuses_a_stranger() {
    let stranger: u32 = crate::roles::parameter().parse().unwrap();
    let refused = Channel::to_parent(CHANNEL).unwrap_err();
    assert!(matches!(refused, ChildError::NotTheParent { number: CHANNEL, pid, .. } if pid == stranger), "{refused}");
    Channel::to_parent(OTHER).unwrap();
}

pub fn a_channel_over_which_nothing_is_proven_is_refused() {
    let (ours, theirs) = Channel::pair().unwrap();
    ours.send(&[0; 16], &[], patience()).unwrap();
    let (_silent, deaf) = Channel::pair().unwrap();
    let child = role("refuses_the_unproven", "").inherit(theirs.into_fd(), CHANNEL).inherit(deaf.into_fd(), OTHER);
    // The proof of another channel is none for these.
    let (child, _channel) = child.connect(5).unwrap();
    assert_eq!(child.spawn().unwrap().wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_refuses_the_unproven() {
    for number in [CHANNEL, OTHER] {
        let refused = Channel::to_parent(number).unwrap_err();
        assert!(matches!(refused, ChildError::Unproven { number: unproven } if unproven == number), "{refused}");
    }
    Channel::to_parent(5).unwrap();
}

pub fn what_proves_it_is_for_the_eyes_of_its_user_only() {
    let (child, _channel) = role("looks_for_the_proof", "").args(["one"]).connect(CHANNEL).unwrap();
    assert_eq!(child.spawn().unwrap().wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_looks_for_the_proof() {
    let told = std::env::var("PEERMAP_INHERITED_FDS").unwrap();
    let proof = told.split(' ').nth(1).unwrap();
    assert_eq!(proof.len(), 32, "128 bits");
    let arguments = fs::read_to_string("/proc/self/cmdline").unwrap();
    assert!(!arguments.contains(proof), "{arguments}");
    let environment = fs::metadata("/proc/self/environ").unwrap();
    assert_eq!(environment.mode() & 0o777, 0o400);
    assert_eq!(environment.uid(), nix::unistd::geteuid().as_raw());
}
