//! What the kernel allows, and processes that stand still.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, raise};
use nix::sys::stat::fstat;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, ftruncate, getpid, getppid};
use peermap_ipc::limits::raise_open_files;
use peermap_ipc::{Barrier, BarrierError, Channel, Child, Deadline, Event, Exit, Spawn, TypedChannel, wait_any};
use peermap_testing::UNSHARE;

use crate::roles::{ROLE, inherited, patience, role, sleep};

const CHANNEL: i32 = 3;
const PIPE: i32 = 4;

/// A parent in another pid namespace than its children: the flags of `unshare`.
pub const CHILDREN_ELSEWHERE: [&str; 2] = ["--map-root-user", "--pid"];

/// Children that count process ids anew.
const COUNTING_ANEW: [&str; 3] = ["--map-root-user", "--pid", "--fork"];

const MANY: usize = 1024;

/// A child that plays a role in namespaces of its own.
fn unshared(flags: &[&str], name: &str) -> Spawn {
    Spawn::new(UNSHARE)
        .args(flags)
        .args([std::env::current_exe().expect("a process knows its executable")])
        .env(ROLE, name)
}

fn ends_well(mut child: Child) {
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn a_thousand_and_24_descriptors_pass_in_batches_of_253() {
    let _alone = crate::descriptors::alone();
    let (child, channel) = role("receiver_of_many", "").connect(CHANNEL).unwrap();
    let child = child.spawn().unwrap();
    raise_open_files(MANY as u64 + 100).unwrap();
    let number = |number| {
        let file = memfd_create("file", MFdFlags::MFD_CLOEXEC).unwrap();
        ftruncate(&file, number).unwrap();
        file
    };
    let files: Vec<OwnedFd> = (0..MANY as i64).map(number).collect();
    let borrowed: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
    let mut channel = TypedChannel::<(), ()>::new(channel);
    channel.send_fds(&borrowed, 253, patience()).unwrap();
    ends_well(child);
}

pub fn play_receiver_of_many() {
    raise_open_files(MANY as u64 + 100).unwrap();
    let mut channel = TypedChannel::<(), ()>::new(Channel::to_parent(CHANNEL).unwrap());
    let files = channel.recv_fds(MANY, patience()).unwrap();
    assert!((0..).zip(&files).all(|(number, file)| fstat(file).unwrap().st_size == number));
}

pub fn a_process_that_stops_itself_is_stopped_and_goes_on() {
    let mut child = role("pause", 300).spawn().unwrap();
    let begun = Instant::now();
    let pid = Pid::from_raw(child.pid().cast_signed());
    let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED));
    assert_eq!(stopped, Ok(WaitStatus::Stopped(pid, Signal::SIGSTOP)));
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
    assert!(begun.elapsed() >= Duration::from_millis(250), "after {:?}", begun.elapsed());
}

pub fn a_stopped_child_ends_when_it_is_dropped() {
    let child = role("stop", "").spawn().unwrap();
    let pid = Pid::from_raw(child.pid().cast_signed());
    let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED));
    assert_eq!((stopped, child.is_stopped()), (Ok(WaitStatus::Stopped(pid, Signal::SIGSTOP)), true));
    drop(child);
    assert_eq!(waitpid(pid, None), Err(nix::errno::Errno::ECHILD));
}

pub fn a_stopped_member_is_named_at_the_deadline() {
    let barrier = Barrier::create("stopped", 2).unwrap();
    let stopped = role("stop", "").spawn().unwrap();
    let copy = barrier.as_fd().try_clone_to_owned().unwrap();
    let mut member = Barrier::join(copy, 0, 2).unwrap();
    let missing = Err(BarrierError::TimedOut { missing: vec![1] });
    assert_eq!(member.wait(Deadline::after(Duration::from_millis(20))), missing);
    drop(stopped);
}

pub fn play_stop() {
    raise(Signal::SIGSTOP).unwrap();
    sleep();
}

pub fn a_process_id_that_is_used_again_is_no_child_of_ours() {
    ends_well(unshared(&COUNTING_ANEW, "reuse_of_an_id").spawn().unwrap());
}

pub fn play_reuse_of_an_id() {
    let mut first = role("exit", 3).spawn().unwrap();
    assert_eq!(first.wait(patience()).unwrap(), Exit::Code(3));
    fs::write("/proc/sys/kernel/ns_last_pid", (first.pid() - 1).to_string()).unwrap();
    let mut second = role("sleep", "").spawn().unwrap();
    assert_eq!(second.pid(), first.pid());
    first.kill().unwrap();
    assert_eq!(first.try_wait().unwrap(), Some(Exit::Code(3)));
    drop(first);
    assert!(second.wait(Deadline::after(Duration::from_millis(50))).is_err(), "it runs on");
}

pub fn a_parent_in_another_pid_namespace_is_known_and_its_end_is_that_of_its_child() {
    let (reader, writer) = std::io::pipe().unwrap();
    let (parent, channel) = unshared(&CHILDREN_ELSEWHERE, "parent_elsewhere").connect(CHANNEL).unwrap();
    let mut parent = parent.inherit(writer.into(), PIPE).spawn().unwrap();
    assert_eq!(channel.recv(0, patience()).unwrap().payload, b"process 1, child of 0");
    parent.kill().unwrap();
    let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
    assert_eq!(poll(&mut fds, PollTimeout::from(60_000u16)), Ok(1));
    assert!(fds[0].revents().unwrap().contains(PollFlags::POLLHUP), "the last who has the writing end is gone");
}

pub fn play_parent_elsewhere() {
    let grandparent = Channel::to_parent(CHANNEL).unwrap();
    let (child, channel) = role("child_elsewhere", "").inherit(inherited(PIPE), PIPE).connect(CHANNEL).unwrap();
    let _child = child.spawn().unwrap();
    let who = channel.recv(0, patience()).unwrap().payload;
    grandparent.send(&who, &[], patience()).unwrap();
    sleep();
}

pub fn play_child_elsewhere() {
    let channel = Channel::to_parent(CHANNEL).unwrap();
    let _pipe = inherited(PIPE);
    let who = format!("process {}, child of {}", getpid(), getppid());
    channel.send(who.as_bytes(), &[], patience()).unwrap();
    sleep();
}

pub fn one_of_300_children_that_is_killed_is_noticed_within_100_ms() {
    let mut children: Vec<Child> = (0..300).map(|_| role("sleep", "").spawn().unwrap()).collect();
    for victim in [0, 150, 299] {
        children[victim].kill().unwrap();
        let killed = Instant::now();
        let mut watched: Vec<&mut Child> = children.iter_mut().collect();
        let event = wait_any(&mut watched, &[], patience()).unwrap();
        assert_eq!(event, Event::Ended { child: victim, exit: Exit::Signal(libc::SIGKILL) });
        assert!(killed.elapsed() < Duration::from_millis(100), "noticed after {:?}", killed.elapsed());
    }
}
