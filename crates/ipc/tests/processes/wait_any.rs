//! Waiting for several children and descriptors.

use std::io::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use peermap_ipc::{Child, ChildError, Deadline, Event, Exit, wait_any};

use crate::roles::{patience, role};

fn sleeper() -> Child {
    role("sleep", "").spawn().expect("a child can start")
}

pub fn it_says_which_child_ended_and_says_it_once() {
    let (mut first, mut second) = (sleeper(), role("exit", 4).spawn().unwrap());
    let event = wait_any(&mut [&mut first, &mut second], &[], patience()).unwrap();
    assert_eq!(event, Event::Ended { child: 1, exit: Exit::Code(4) });
    first.kill().unwrap();
    let event = wait_any(&mut [&mut first, &mut second], &[], patience()).unwrap();
    assert_eq!(event, Event::Ended { child: 0, exit: Exit::Signal(libc::SIGKILL) });
}

pub fn it_says_which_descriptor_is_readable() {
    let mut child = sleeper();
    let (quiet, silent) = std::io::pipe().unwrap();
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"x").unwrap();
    let event = wait_any(&mut [&mut child], &[quiet.as_fd(), reader.as_fd()], patience()).unwrap();
    assert_eq!(event, Event::Readable { fd: 1 });
    // A closed other end counts too. A child that ended comes first, but only once.
    drop(silent);
    let event = wait_any(&mut [&mut child], &[quiet.as_fd()], patience()).unwrap();
    assert_eq!(event, Event::Readable { fd: 0 });
    child.kill().unwrap();
    // Its pidfd says that it has ended, and nobody has reaped it yet.
    let mut ended = [PollFd::new(child.pidfd(), PollFlags::POLLIN)];
    assert_eq!(poll(&mut ended, PollTimeout::from(60_000u16)), Ok(1));
    let event = wait_any(&mut [&mut child], &[quiet.as_fd()], patience()).unwrap();
    assert_eq!(event, Event::Ended { child: 0, exit: Exit::Signal(libc::SIGKILL) });
    let event = wait_any(&mut [&mut child], &[quiet.as_fd()], patience()).unwrap();
    assert_eq!(event, Event::Readable { fd: 0 });
}

pub fn it_ends_at_the_deadline_and_refuses_to_wait_for_nothing() {
    let mut child = sleeper();
    let late = wait_any(&mut [&mut child], &[], Deadline::after(Duration::from_millis(1))).unwrap_err();
    assert!(matches!(late, ChildError::TimedOut));
    child.kill().unwrap();
    child.wait(patience()).unwrap();
    let nothing = wait_any(&mut [&mut child], &[], Deadline::NEVER).unwrap_err();
    assert!(matches!(nothing, ChildError::NothingToWatch));
}
