//! Typed packets and batches of descriptors.

use std::thread;

use peermap_ipc::{Channel, IpcError, MAX_PAYLOAD, PacketError, TypedChannel};
use serde::{Deserialize, Serialize};

use crate::support::{borrow, no_time, numbered_files, numbers_of, patience};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Ask {
    Name(String),
    Bytes(Vec<u8>),
}

type Answer = Option<u64>;

fn pair() -> (TypedChannel<Ask, Answer>, TypedChannel<Answer, Ask>) {
    TypedChannel::pair().expect("two descriptors are free")
}

/// A receiver whose peer speaks raw bytes.
fn raw_pair() -> (Channel, TypedChannel<Answer, Ask>) {
    let (raw, other) = Channel::pair().expect("two descriptors are free");
    (raw, TypedChannel::new(other))
}

fn received_error(bytes: &[u8]) -> IpcError {
    let (raw, mut receiver) = raw_pair();
    raw.send(bytes, &[], patience()).unwrap();
    receiver.recv(0, patience()).unwrap_err()
}

#[test]
fn values_and_descriptors_go_both_ways() {
    let (mut asks, mut answers) = pair();
    let files = numbered_files(3);
    for round in 0..3 {
        asks.send(&Ask::Name("gpu".into()), &borrow(&files), patience()).unwrap();
        let (ask, fds) = answers.recv(3, patience()).unwrap();
        assert_eq!((ask, numbers_of(&fds)), (Ask::Name("gpu".into()), vec![0, 1, 2]));
        answers.send(&Some(round), &[], patience()).unwrap();
        assert_eq!(asks.recv(0, patience()).unwrap().0, Some(round));
    }
}

#[test]
fn garbage_is_told_from_a_peer_that_hung_up() {
    assert_eq!(received_error(b"short"), PacketError::TooShort { len: 5 }.into());
    let garbage = received_error(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(garbage, PacketError::WrongMagic { found: *b"GET " }.into());
    let (raw, mut receiver) = raw_pair();
    drop(raw);
    assert_eq!(receiver.recv(0, patience()).unwrap_err(), IpcError::PeerClosed);
}

#[test]
fn a_packet_that_was_received_elsewhere_is_missed() {
    let (mut asks, answers) = pair();
    asks.send(&Ask::Name("lost".into()), &[], patience()).unwrap();
    asks.send(&Ask::Name("next".into()), &[], patience()).unwrap();
    let channel = answers.into_channel();
    channel.recv(0, patience()).unwrap();
    let mut late = TypedChannel::<Answer, Ask>::new(channel);
    let missed = late.recv(0, patience()).unwrap_err();
    assert_eq!(missed, PacketError::WrongSequence { expected: 0, found: 1 }.into());
}

#[test]
fn a_value_of_another_type_is_an_error_and_the_next_packet_is_read() {
    let (left, right) = Channel::pair().unwrap();
    let mut sender = TypedChannel::<(u8, u8), ()>::new(left);
    let mut receiver = TypedChannel::<(), Option<u8>>::new(right);
    sender.send(&(7, 0), &[], patience()).unwrap();
    sender.send(&(1, 9), &[], patience()).unwrap();
    let wrong = receiver.recv(0, patience()).unwrap_err();
    assert_eq!(wrong, PacketError::Decode(postcard::Error::DeserializeBadOption).into());
    assert_eq!(receiver.recv(0, patience()).unwrap().0, Some(9));
}

#[test]
fn bytes_behind_the_value_are_an_error() {
    let (left, right) = Channel::pair().unwrap();
    let mut sender = TypedChannel::<(u8, u8, u8), ()>::new(left);
    let mut receiver = TypedChannel::<(), u8>::new(right);
    sender.send(&(1, 2, 3), &[], patience()).unwrap();
    assert_eq!(receiver.recv(0, patience()).unwrap_err(), PacketError::TrailingBytes { count: 2 }.into());
}

#[test]
fn a_value_that_is_too_large_is_refused_and_the_channel_goes_on() {
    let (mut asks, mut answers) = pair();
    let refused = asks.send(&Ask::Bytes(vec![0; MAX_PAYLOAD]), &[], patience()).unwrap_err();
    assert!(matches!(refused, IpcError::PayloadTooLarge { len, max: MAX_PAYLOAD } if len > MAX_PAYLOAD));
    asks.send(&Ask::Bytes(vec![1]), &[], patience()).unwrap();
    assert_eq!(answers.recv(0, patience()).unwrap().0, Ask::Bytes(vec![1]));
}

#[test]
fn a_list_of_descriptors_passes_in_batches_and_in_order() {
    let (mut asks, mut answers) = pair();
    let sender = thread::spawn(move || {
        let files = numbered_files(300);
        asks.send_fds(&borrow(&files), 253, patience()).unwrap();
        asks.send_fds(&borrow(&files[..10]), 3, patience()).unwrap();
        asks.send_fds(&[], 3, patience()).unwrap();
        asks.send(&Ask::Name("done".into()), &[], patience()).unwrap();
    });
    let fds = answers.recv_fds(300, patience()).unwrap();
    assert_eq!(numbers_of(&fds), (0..300).collect::<Vec<_>>());
    let fds = answers.recv_fds(10, patience()).unwrap();
    assert_eq!(numbers_of(&fds), (0..10).collect::<Vec<_>>());
    assert_eq!(answers.recv_fds(0, patience()).unwrap().len(), 0);
    assert_eq!(answers.recv(0, patience()).unwrap().0, Ask::Name("done".into()));
    sender.join().unwrap();
}

#[test]
fn the_next_batch_is_sent_only_when_the_last_was_taken() {
    let (mut asks, answers) = pair();
    let files = numbered_files(4);
    assert_eq!(asks.send_fds(&borrow(&files), 2, no_time()), Err(IpcError::TimedOut));
    let channel = answers.into_channel();
    assert_eq!(channel.recv(253, no_time()).unwrap().fds.len(), 2);
    assert_eq!(channel.recv(253, no_time()).unwrap_err(), IpcError::TimedOut);
}

#[test]
fn a_batch_size_of_nothing_or_too_much_is_refused() {
    let (mut asks, _answers) = pair();
    let file = numbered_files(1);
    for given in [0, 254] {
        let refused = asks.send_fds(&borrow(&file), given, no_time());
        assert_eq!(refused, Err(IpcError::BatchSize { given, max: 253 }));
    }
}

#[test]
fn two_sides_that_disagree_on_the_number_of_descriptors_are_told() {
    let (mut asks, mut answers) = pair();
    let files = numbered_files(2);
    assert_eq!(asks.send_fds(&borrow(&files), 2, no_time()), Err(IpcError::TimedOut));
    let refused = answers.recv_fds(3, patience()).unwrap_err();
    assert_eq!(refused, PacketError::WrongDescriptorTotal { expected: 3, announced: 2 }.into());
}

#[test]
fn a_value_where_descriptors_are_expected_is_an_error() {
    let (mut asks, mut answers) = pair();
    asks.send(&Ask::Name("value".into()), &[], patience()).unwrap();
    let refused = answers.recv_fds(1, patience()).unwrap_err();
    assert_eq!(refused, PacketError::WrongKind { expected: 2, found: 1 }.into());
}
