//! Private addresses: who finds whom, and who is kept out.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::thread;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, listen, socket};
use peermap_ipc::{Channel, IpcError, PrivateAddress, PrivateListener};
use proptest::prelude::*;

use crate::support::{no_time, patience};

/// The place of an address, as everybody finds it among the sockets of the host.
fn place(address: &PrivateAddress) -> UnixAddr {
    let debug = format!("{address:?}");
    let name = debug.trim_start_matches("PrivateAddress(@").trim_end_matches(')');
    let sockets = std::fs::read_to_string("/proc/net/unix").expect("the sockets of the host can be listed");
    assert!(sockets.contains(&format!("@{name}")));
    UnixAddr::new_abstract(name.as_bytes()).expect("it is short enough")
}

fn packet_socket() -> OwnedFd {
    let kind = SockType::SeqPacket;
    socket(AddressFamily::Unix, kind, SockFlag::SOCK_CLOEXEC, None).expect("a descriptor is free")
}

/// Somebody who knows the place and no more.
fn stranger(address: &PrivateAddress) -> Channel {
    let socket = packet_socket();
    connect(socket.as_raw_fd(), &place(address)).expect("there is room");
    Channel::from_fd(socket).expect("it is a channel")
}

/// One who knows the address comes, while `listener` listens; what is said arrives.
fn a_friend_is_let_in(listener: &mut PrivateListener) {
    let address = listener.address();
    let friend = thread::spawn(move || {
        let channel = Channel::connect(&address, patience()).unwrap();
        channel.send(b"hello", &[], patience()).unwrap();
    });
    let host = listener.accept(patience()).unwrap();
    assert_eq!(host.recv(0, patience()).unwrap().payload, b"hello");
    friend.join().unwrap();
}

#[test]
fn who_knows_the_address_gets_a_channel() {
    a_friend_is_let_in(&mut PrivateListener::new().unwrap());
}

#[test]
fn each_listener_has_an_address_of_its_own_which_ends_with_it() {
    let (one, other) = (PrivateListener::new().unwrap(), PrivateListener::new().unwrap());
    assert_ne!(one.address().to_bytes(), other.address().to_bytes());
    let address = one.address();
    drop(one);
    let nobody = IpcError::System { call: "connect", source: Errno::ECONNREFUSED };
    assert_eq!(Channel::connect(&address, patience()).unwrap_err(), nobody);
}

#[test]
fn a_listener_to_whom_nobody_comes_says_so() {
    let mut listener = PrivateListener::new().unwrap();
    assert_eq!(listener.accept(no_time()).map(drop), Err(IpcError::TimedOut));
}

#[test]
fn who_is_not_let_in_knows_it_in_time() {
    let listener = PrivateListener::new().unwrap();
    assert_eq!(Channel::connect(&listener.address(), no_time()).map(drop), Err(IpcError::TimedOut));
}

#[test]
fn strangers_who_say_nothing_keep_nobody_out() {
    let mut listener = PrivateListener::new().unwrap();
    let _silent: Vec<Channel> = (0..200).map(|_| stranger(&listener.address())).collect();
    a_friend_is_let_in(&mut listener);
}

#[test]
fn strangers_who_flood_keep_nobody_out() {
    let mut listener = PrivateListener::new().unwrap();
    let floods: Vec<Channel> = (0..20).map(|_| stranger(&listener.address())).collect();
    let file = packet_socket();
    for flood in &floods {
        flood.send(b"take this", &[file.as_fd(); 3], patience()).unwrap();
        while flood.send(&[7; 1000], &[], no_time()).is_ok() {}
    }
    a_friend_is_let_in(&mut listener);
    assert!(floods.iter().all(|flood| flood.recv(0, patience()).unwrap_err() == IpcError::PeerClosed));
}

#[test]
fn who_knows_the_place_and_not_the_secret_is_turned_away() {
    let mut listener = PrivateListener::new().unwrap();
    let mut bytes = listener.address().to_bytes();
    bytes[20] ^= 1;
    let guess = PrivateAddress::from_bytes(&bytes);
    let guesser = thread::spawn(move || Channel::connect(&guess, patience()).map(drop));
    a_friend_is_let_in(&mut listener);
    drop(listener);
    assert_eq!(guesser.join().unwrap(), Err(IpcError::PeerClosed));
}

/// Who takes the place of a listener that has gone does not know what to answer.
#[test]
fn a_squatter_is_told_from_who_was_meant() {
    let listener = PrivateListener::new().unwrap();
    let (address, place) = (listener.address(), place(&listener.address()));
    drop(listener);
    let squatter = packet_socket();
    bind(squatter.as_raw_fd(), &place).unwrap();
    listen(&squatter, Backlog::new(1).unwrap()).unwrap();
    let answers = thread::spawn(move || {
        let (accepted, _) = UnixListener::from(squatter).accept().unwrap();
        let channel = Channel::from_fd(accepted.into()).unwrap();
        let knock = channel.recv(0, patience()).unwrap().payload;
        channel.send(&knock, &[], patience()).unwrap();
    });
    assert_eq!(Channel::connect(&address, patience()).map(drop), Err(IpcError::NotWhoWasMeant));
    answers.join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_a_stranger_says_changes_nothing(words in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..64), 0..4)) {
        let mut listener = PrivateListener::new().unwrap();
        let stranger = stranger(&listener.address());
        for word in &words {
            stranger.send(word, &[], patience()).unwrap();
        }
        a_friend_is_let_in(&mut listener);
    }
}
