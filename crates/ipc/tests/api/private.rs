//! Private addresses: who finds whom.

use nix::errno::Errno;
use peermap_ipc::{Channel, IpcError, PrivateAddress, PrivateListener};

use crate::support::{no_time, patience};

#[test]
fn who_knows_the_address_gets_a_channel() {
    let listener = PrivateListener::new().unwrap();
    let visitor = Channel::connect(listener.address()).unwrap();
    let host = listener.accept(patience()).unwrap();
    visitor.send(b"hello", &[], patience()).unwrap();
    assert_eq!(host.recv(0, patience()).unwrap().payload, b"hello");
}

#[test]
fn each_listener_has_an_address_of_its_own_which_ends_with_it() {
    let (one, other) = (PrivateListener::new().unwrap(), PrivateListener::new().unwrap());
    assert_ne!(one.address(), other.address());
    let address = one.address();
    drop(one);
    let refused = |address: PrivateAddress| Channel::connect(address).map(drop);
    let nobody = Err(IpcError::System { call: "connect", source: Errno::ECONNREFUSED });
    assert_eq!([refused(address), refused(PrivateAddress([0; 16]))], [nobody.clone(), nobody]);
    assert!(Channel::connect(other.address()).is_ok());
}

#[test]
fn a_listener_to_whom_nobody_comes_says_so() {
    let listener = PrivateListener::new().unwrap();
    assert_eq!(listener.accept(no_time()).map(drop), Err(IpcError::TimedOut));
}
