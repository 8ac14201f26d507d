//! Whoever gets hold of a socket of the machine and does not speak its language.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use peermap_driver::Driver;
use peermap_ipc::{Channel, Deadline, IpcError, MAX_PAYLOAD, TypedChannel, Window};
use peermap_sim::{MachineClient, SimProcess};

use crate::house::House;
use crate::roles::{CHANNEL, hear, patience, role};
use crate::support::{GRANULE, create, import, map, read};

fn ticket(house: &mut House) -> OwnedFd {
    house.client.ticket(patience()).unwrap()
}

/// Whether the machine works for others.
fn works(house: &mut House, process: &SimProcess) {
    let handle = create(process, 0, GRANULE);
    assert_eq!(house.held().len(), 1);
    process.mem_release(handle).unwrap();
    assert_eq!(house.held(), []);
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

/// The first word of who joins: the number of its variant, and of its process.
const HELLO: (u8, u8) = (0, 1);

/// How long others may be kept waiting: a busy host is slow, and a machine that waits for a stranger waits longer.
const PROMPT: Duration = Duration::from_secs(3);

fn talker(house: &mut House) -> TypedChannel<(u8, u8), ()> {
    TypedChannel::new(Channel::from_fd(ticket(house)).unwrap())
}

pub fn a_stranger_that_floods_and_never_reads_is_let_go() {
    let mut house = House::new();
    let process = house.join();
    let mut flood = talker(&mut house);
    let start = Instant::now();
    let end = (0..1_000_000).find_map(|_| flood.send(&HELLO, &[], patience()).err());
    assert_eq!(end, Some(IpcError::PeerClosed));
    works(&mut house, &process);
    assert!(start.elapsed() < PROMPT, "others waited for {:?}", start.elapsed());
}

pub fn strangers_that_join_and_say_no_more_hold_nobody_up() {
    let mut house = House::new();
    let process = house.join();
    let mut silent: Vec<_> = (0..20).map(|_| talker(&mut house)).collect();
    silent.iter_mut().for_each(|stranger| stranger.send(&HELLO, &[], patience()).unwrap());
    let start = Instant::now();
    works(&mut house, &process);
    assert!(start.elapsed() < PROMPT, "others waited for {:?}", start.elapsed());
}

pub fn a_stopped_process_holds_nobody_up() {
    let mut house = House::new();
    let exporter = house.worker("exporter", None);
    let descriptor = hear(&exporter.channel).1.unwrap();
    kill(Pid::from_raw(exporter.child.pid().cast_signed()), Signal::SIGSTOP).unwrap();
    let start = Instant::now();
    let process = house.join();
    let ptr = map(&process, import(&process, &descriptor).unwrap(), GRANULE);
    assert_eq!(read(&process, ptr, 1), [7]);
    assert!(start.elapsed() < PROMPT, "others waited for {:?}", start.elapsed());
    exporter.kill();
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

pub fn visitors_at_the_window_hold_nobody_up() {
    let mut house = House::new();
    let process = house.join();
    let start = Instant::now();
    let silent: Vec<_> = (0..50).flat_map(|_| Window::all("account", Deadline::after(PROMPT)).unwrap()).collect();
    assert!(silent.len() >= 50);
    works(&mut house, &process);
    drop(silent);
    works(&mut house, &process);
    assert!(start.elapsed() < PROMPT, "others waited for {:?}", start.elapsed());
}

pub fn a_machine_that_cannot_be_made_says_so() {
    let (child, ours) = role("broken machine").connect(CHANNEL).unwrap();
    let mut child = child.spawn().unwrap();
    assert!(MachineClient::new(ours, patience()).is_err());
    child.wait(patience()).unwrap();
}
