//! Whoever gets hold of a socket of the machine and does not speak its language.

use std::os::fd::OwnedFd;

use peermap_driver::Driver;
use peermap_ipc::{Channel, IpcError, MAX_PAYLOAD};
use peermap_sim::{MachineClient, SimProcess};

use crate::house::House;
use crate::roles::{CHANNEL, patience, role};
use crate::support::{GRANULE, create};

fn ticket(house: &mut House) -> OwnedFd {
    house.client.ticket(patience()).unwrap()
}

/// Whether the machine works for others.
fn works(house: &mut House, process: &SimProcess) {
    let handle = create(process, 0, GRANULE);
    assert_eq!(house.holders().0.len(), 1);
    process.mem_release(handle).unwrap();
    assert_eq!(house.holders().0, []);
    drop(house.join());
}

pub fn junk_disconnects_only_who_sent_it() {
    let mut house = House::new();
    let process = house.join();
    for junk in [vec![0], vec![0xff; 4096], b"hello".to_vec(), vec![1; MAX_PAYLOAD]] {
        let stranger = Channel::from_fd(ticket(&mut house)).unwrap();
        stranger.send(&junk, &[], patience()).unwrap();
        assert!(matches!(stranger.recv(0, patience()), Err(IpcError::PeerClosed)), "{} bytes", junk.len());
        works(&mut house, &process);
    }
}

pub fn a_stranger_that_leaves_early_harms_nobody() {
    let mut house = House::new();
    let process = house.join();
    drop(ticket(&mut house));
    works(&mut house, &process);
    let kept = ticket(&mut house);
    works(&mut house, &process);
    drop(kept);
    works(&mut house, &process);
}

pub fn a_machine_that_cannot_be_made_says_so() {
    let (ours, theirs) = Channel::pair().unwrap();
    let mut child = role("broken machine").inherit(theirs.into_fd(), CHANNEL).spawn().unwrap();
    assert!(MachineClient::new(ours, patience()).is_err());
    child.wait(patience()).unwrap();
}
