//! Channels: bytes, descriptors, limits, hang-ups.

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, send, setsockopt, socketpair, sockopt};
use peermap_ipc::{Channel, IpcError, MAX_FDS_PER_MESSAGE, MAX_PAYLOAD};

use crate::support::{borrow, is_close_on_exec, no_time, numbered_files, numbers_of, patience};

fn pair() -> (Channel, Channel) {
    Channel::pair().expect("two descriptors are free")
}

#[test]
fn messages_keep_their_boundaries_and_their_order() {
    let (left, right) = pair();
    left.send(b"one", &[], patience()).unwrap();
    left.send(b"two and more", &[], patience()).unwrap();
    assert_eq!(right.recv(0, patience()).unwrap().payload, b"one");
    assert_eq!(right.recv(0, patience()).unwrap().payload, b"two and more");
}

#[test]
fn as_many_descriptors_as_the_kernel_allows_pass_in_one_message_in_order() {
    let (left, right) = pair();
    let files = numbered_files(MAX_FDS_PER_MESSAGE);
    left.send(b"x", &borrow(&files), patience()).unwrap();
    let received = right.recv(MAX_FDS_PER_MESSAGE, patience()).unwrap();
    assert_eq!(numbers_of(&received.fds), (0..253).collect::<Vec<_>>());
    assert!(received.fds.iter().all(is_close_on_exec));
}

#[test]
fn one_descriptor_more_is_refused_and_nothing_is_sent() {
    let (left, right) = pair();
    let file = numbered_files(1);
    let refused = left.send(b"x", &[file[0].as_fd(); 254], patience());
    assert_eq!(refused, Err(IpcError::TooManyDescriptors { given: 254, max: 253 }));
    assert_eq!(right.recv(253, no_time()).unwrap_err(), IpcError::TimedOut);
}

#[test]
fn descriptors_beyond_those_accepted_are_closed_and_the_channel_goes_on() {
    let (left, right) = pair();
    let (mut reader, writer) = std::io::pipe().unwrap();
    left.send(b"x", &[writer.as_fd(), writer.as_fd()], patience()).unwrap();
    drop(writer);
    let refused = right.recv(1, patience()).unwrap_err();
    assert_eq!(refused, IpcError::UnexpectedDescriptors { received: 2, accepted: 1 });
    // The pipe ends only when no copy of its writing end is left.
    assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    left.send(b"y", &[], patience()).unwrap();
    assert_eq!(right.recv(0, patience()).unwrap().payload, b"y");
}

#[test]
fn the_largest_payload_passes_and_one_byte_more_is_refused() {
    let (left, right) = pair();
    let payload = vec![7; MAX_PAYLOAD + 1];
    left.send(&payload[1..], &[], patience()).unwrap();
    assert_eq!(right.recv(0, patience()).unwrap().payload, payload[1..]);
    let refused = left.send(&payload, &[], patience());
    assert_eq!(refused, Err(IpcError::PayloadTooLarge { len: MAX_PAYLOAD + 1, max: MAX_PAYLOAD }));
}

#[test]
fn an_empty_payload_is_refused() {
    let (left, _right) = pair();
    assert_eq!(left.send(b"", &[], patience()), Err(IpcError::EmptyPayload));
}

#[test]
fn an_oversized_message_of_a_foreign_peer_is_an_error_and_not_cut() {
    let (left, right) = pair();
    send(left.as_fd().as_raw_fd(), &vec![1; MAX_PAYLOAD + 1], MsgFlags::empty()).unwrap();
    assert_eq!(right.recv(0, patience()).unwrap_err(), IpcError::PayloadTruncated { max: MAX_PAYLOAD });
}

#[test]
fn a_closed_peer_is_a_hang_up_after_what_it_sent() {
    let (left, right) = pair();
    left.send(b"last", &[], patience()).unwrap();
    drop(left);
    assert_eq!(right.recv(0, patience()).unwrap().payload, b"last");
    assert_eq!(right.recv(0, patience()).unwrap_err(), IpcError::PeerClosed);
    assert_eq!(right.send(b"x", &[], patience()), Err(IpcError::PeerClosed));
}

#[test]
fn what_a_peer_sent_is_received_even_if_it_left_messages_unread() {
    let (left, right) = pair();
    right.send(b"never read", &[], patience()).unwrap();
    left.send(b"last", &[], patience()).unwrap();
    drop(left);
    assert_eq!(right.recv(0, patience()).unwrap().payload, b"last");
    assert_eq!(right.recv(0, patience()).unwrap_err(), IpcError::PeerClosed);
}

#[test]
fn sending_to_a_peer_that_does_not_receive_ends_at_the_deadline() {
    let (left, _right) = pair();
    setsockopt(&left, sockopt::SndBuf, &0).unwrap();
    let full = (0..10_000).find_map(|_| left.send(&[0; 1000], &[], no_time()).err());
    assert_eq!(full, Some(IpcError::TimedOut));
}

#[test]
fn a_sender_that_waits_goes_on_when_the_peer_makes_room() {
    let (left, right) = pair();
    setsockopt(&left, sockopt::SndBuf, &0).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..500u32).for_each(|n| left.send(&n.to_le_bytes(), &[], patience()).unwrap()));
        for n in 0..500u32 {
            assert_eq!(right.recv(0, patience()).unwrap().payload, n.to_le_bytes());
        }
    });
}

#[test]
fn other_descriptors_are_no_channels() {
    let (stream, _other) = UnixStream::pair().unwrap();
    let refused = Channel::from_fd(stream.into()).unwrap_err();
    assert_eq!(refused, IpcError::NotAPacketSocket { domain: libc::AF_UNIX, kind: libc::SOCK_STREAM });
    let file = numbered_files(1).remove(0);
    let refused = Channel::from_fd(file).unwrap_err();
    assert_eq!(refused, IpcError::System { call: "getsockopt", source: Errno::ENOTSOCK });
}

#[test]
fn a_channel_is_close_on_exec_wherever_it_comes_from() {
    let (left, _right) = pair();
    assert!(is_close_on_exec(&left));
    let (foreign, _other) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::empty()).unwrap();
    fcntl(&foreign, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    assert!(is_close_on_exec(Channel::from_fd(foreign).unwrap()));
}

#[test]
fn a_channel_survives_as_a_descriptor() {
    let (left, right) = pair();
    let fd: OwnedFd = left.into_fd();
    Channel::from_fd(fd).unwrap().send(b"x", &[], patience()).unwrap();
    assert_eq!(right.recv(0, patience()).unwrap().payload, b"x");
}

#[test]
fn the_peer_of_a_pair_is_this_process() {
    let (left, _right) = pair();
    let peer = left.peer_credentials().unwrap();
    assert_eq!(peer.pid, std::process::id());
    assert_eq!(peer.uid, nix::unistd::geteuid().as_raw());
}
