//! Supervised children.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::process::Command;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::fstat;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, ftruncate};
use peermap_ipc::{Channel, ChildError, Deadline, Exit, Output, Spawn, take_inherited};

use crate::roles::{ROLE, inherited, inherited_channel, parameter, patience, role, sleep};

fn file_of(len: i64) -> OwnedFd {
    let file = memfd_create("file", MFdFlags::MFD_CLOEXEC).expect("a descriptor is free");
    ftruncate(&file, len).expect("an empty file can grow");
    file
}

fn null() -> OwnedFd {
    fs::File::open("/dev/null").expect("there is a null device").into()
}

pub fn it_ends_with_its_code_or_its_signal() {
    let mut child = role("exit", 3).spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(3));
    assert_eq!(child.try_wait().unwrap(), Some(Exit::Code(3)));
    assert!(child.kill().is_ok(), "a child that has ended is no error");
    let mut child = role("abort", "").spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Signal(libc::SIGABRT));
}

pub fn it_is_killed_when_its_parent_is_killed() {
    let (ours, theirs) = Channel::pair().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let parent = role("parent_of_sleeper", "").inherit(theirs.into_fd(), 3).inherit(writer.into(), 4);
    let mut parent = parent.spawn().unwrap();
    assert_eq!(ours.recv(0, patience()).unwrap().payload, b"the sleeper runs");
    parent.kill().unwrap();
    assert_eq!(parent.wait(patience()).unwrap(), Exit::Signal(libc::SIGKILL));
    // The pipe hangs up when the last process that has its writing end is gone. The sleeper would have it for two
    // minutes.
    let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
    assert_eq!(poll(&mut fds, PollTimeout::from(60_000u16)), Ok(1));
    assert!(fds[0].revents().unwrap().contains(PollFlags::POLLHUP));
}

pub fn play_parent_of_sleeper() {
    let channel = inherited_channel(3);
    let _child = role("sleep", "").inherit(inherited(4), 9).spawn().unwrap();
    channel.send(b"the sleeper runs", &[], patience()).unwrap();
    sleep();
}

pub fn its_descriptors_get_their_numbers_even_in_a_circle() {
    let files = [11, 22, 33, 44, 55].map(file_of);
    let numbers = files.each_ref().map(AsRawFd::as_raw_fd);
    // The first two swap, the next two and a number that nobody has form a chain, the last stays where it is.
    let free = numbers.iter().max().unwrap() + 20;
    let targets = [numbers[1], numbers[0], numbers[3], free, numbers[4]];
    let expected: Vec<String> =
        targets.iter().zip([11, 22, 33, 44, 55]).map(|(number, len)| format!("{number}={len}")).collect();
    let child = role("check_numbers", expected.join(" "));
    let child = files.into_iter().zip(targets).fold(child, |child, (file, target)| child.inherit(file, target));
    assert_eq!(child.spawn().unwrap().wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_check_numbers() {
    for pair in parameter().split(' ') {
        let (number, len) = pair.split_once('=').unwrap();
        let file = inherited(number.parse().unwrap());
        assert_eq!(fstat(&file).unwrap().st_size, len.parse::<i64>().unwrap(), "{pair}");
    }
}

pub fn it_inherits_nothing_else() {
    let careless = null();
    fcntl(&careless, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    let number = careless.as_raw_fd() + 1;
    let mut child = role("list_descriptors", "").inherit(null(), number).stdout(Output::Piped).spawn().unwrap();
    let mut list = String::new();
    child.take_stdout().unwrap().read_to_string(&mut list).unwrap();
    assert_eq!(list, format!("[0, 1, 2, {number}]"));
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_list_descriptors() {
    let names: Vec<_> = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path()).collect();
    // The descriptor that read the folder is in the list, but it is closed by now.
    let open = names.iter().filter(|path| fs::read_link(path).is_ok());
    let number = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().parse::<RawFd>().unwrap();
    let mut numbers: Vec<RawFd> = open.map(number).collect();
    numbers.sort_unstable();
    print!("{numbers:?}");
    std::io::stdout().flush().unwrap();
}

pub fn it_takes_a_descriptor_once_and_its_own_child_not_at_all() {
    let mut child = role("take_twice", "").inherit(null(), 3).spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_take_twice() {
    let taken = inherited(3);
    let again = take_inherited(3).unwrap_err();
    assert!(matches!(again, ChildError::NotInherited { number: 3 }));
    let closed = fcntl(&taken, FcntlArg::F_GETFD).unwrap();
    assert_eq!(closed, libc::FD_CLOEXEC);
    let refused = take_inherited(4).unwrap_err();
    assert!(matches!(refused, ChildError::NotInherited { number: 4 }));
    // A child that some library starts keeps our environment, but gets nothing from our parent.
    let grandchild = Command::new(std::env::current_exe().unwrap()).env(ROLE, "take_nothing").status().unwrap();
    assert_eq!(grandchild.code(), Some(0));
}

pub fn play_take_nothing() {
    let refused = take_inherited(3).unwrap_err();
    assert!(matches!(refused, ChildError::NotInherited { number: 3 }));
}

pub fn waiting_past_the_deadline_is_an_error_and_it_runs_on() {
    let mut child = role("sleep", "").spawn().unwrap();
    let late = child.wait(Deadline::after(std::time::Duration::from_millis(1))).unwrap_err();
    assert!(matches!(late, ChildError::TimedOut));
    assert_eq!(child.try_wait().unwrap(), None);
    child.kill().unwrap();
    let exit = child.wait(patience()).unwrap();
    assert_eq!(exit.to_string(), "killed by SIGKILL");
}

pub fn dropping_it_leaves_no_zombie() {
    let child = role("sleep", "").spawn().unwrap();
    let pid = Pid::from_raw(child.pid().cast_signed());
    assert!(waitpid(pid, Some(WaitPidFlag::WNOHANG)).is_ok(), "it runs and is ours");
    drop(child);
    assert_eq!(waitpid(pid, Some(WaitPidFlag::WNOHANG)), Err(Errno::ECHILD));
}

pub fn its_name_and_arguments_arrive_and_its_output_can_be_read() {
    let child = role("print", "hello").args(["one", "two words"]);
    let mut child = child.stdout(Output::Piped).stderr(Output::Piped).spawn().unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    child.take_stdout().unwrap().read_to_string(&mut out).unwrap();
    child.take_stderr().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(out, r#"["peermap-test", "one", "two words"]"#);
    assert_eq!(err, "hello");
    assert!(child.take_stdout().is_none());
}

pub fn play_print() {
    let args: Vec<String> = std::env::args().collect();
    print!("{args:?}");
    std::io::stdout().flush().unwrap();
    eprint!("{}", parameter());
}

pub fn a_missing_executable_is_named() {
    let error = Spawn::new("/nowhere/peermap").spawn().unwrap_err();
    assert!(matches!(error, ChildError::ExecutableMissing { .. }));
    assert!(error.to_string().starts_with("cannot start /nowhere/peermap: no such file"));
    let error = Spawn::new("/dev/null").spawn().unwrap_err();
    assert!(matches!(error, ChildError::Start { .. }));
    assert_eq!(error.to_string(), "cannot start /dev/null");
}

pub fn a_failed_start_is_reported_whatever_the_target_numbers() {
    // In a process of its own, where no other test opens and closes descriptors meanwhile.
    let mut child = role("failed_start", "").spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_failed_start() {
    let sources: Vec<OwnedFd> = (0..30).map(|_| null()).collect();
    let free = sources.iter().map(AsRawFd::as_raw_fd).max().unwrap() + 1;
    // The pipe through which a child reports the failure gets a free number, which would be one of the targets.
    let child = Spawn::new("/nowhere/peermap");
    let child = sources.into_iter().zip(free..).fold(child, |child, (source, target)| child.inherit(source, target));
    assert!(matches!(child.spawn().unwrap_err(), ChildError::ExecutableMissing { .. }));
}
