//! Handing descriptors to a child under numbers that both sides know.
//!
//! The parent names the numbers in an environment variable, together with its process id and with the file that each of
//! them is: a grandchild inherits the variable but has another parent and other files, so it does not take numbers for
//! descriptors that it never got. A child in another pid namespace cannot see the id of its parent; it has the files.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::stat::fstat;
use nix::unistd::getppid;

use super::error::ChildError;
use crate::token::Token;

/// `<process id of the parent> <token> <number>=<device>:<inode>,<number>=…`; the token is `-` if there is none.
pub(super) const VARIABLE: &str = "PEERMAP_INHERITED_FDS";

const FIRST_NUMBER: RawFd = 3;

/// Numbers that [`take_inherited`] has given out.
static TAKEN: Mutex<BTreeSet<RawFd>> = Mutex::new(BTreeSet::new());

/// Takes a descriptor that the parent handed over with [`Spawn::inherit`](super::Spawn::inherit), and makes it
/// close-on-exec. Each can be taken once.
///
/// # Errors
/// [`ChildError::NotInherited`] if the parent did not hand this number over, or it was taken before.
pub fn take_inherited(number: RawFd) -> Result<OwnedFd, ChildError> {
    let letter = std::env::var(VARIABLE).unwrap_or_default();
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = Letter::read(&letter, getppid().as_raw()).and_then(|letter| letter.file(number));
    if expected.is_none() || expected != File::at(number) || !taken.insert(number) {
        return Err(ChildError::NotInherited { number });
    }
    // SAFETY: fcntl(2) with F_SETFD changes a flag of the descriptor and touches no memory; a wrong number is EBADF.
    let result = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    Errno::result(result).map_err(ChildError::from_call("fcntl"))?;
    // SAFETY: The parent made this descriptor for us across exec, and `taken` makes sure that we take it only once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// What the parent of this process says to prove that it is the parent, if it said so.
pub(super) fn token_of_parent() -> Option<Token> {
    let letter = std::env::var(VARIABLE).unwrap_or_default();
    Letter::read(&letter, getppid().as_raw()).and_then(|letter| letter.token)
}

/// Which file a descriptor is, as the kernel numbers them. Sockets, pipes and shared memory have a number of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct File {
    device: u64,
    inode: u64,
}

impl File {
    fn of(fd: impl AsFd) -> Result<Self, ChildError> {
        let status = fstat(fd).map_err(ChildError::from_call("fstat"))?;
        Ok(Self { device: status.st_dev, inode: status.st_ino })
    }

    /// The file under a number, if one is open there.
    fn at(number: RawFd) -> Option<Self> {
        // SAFETY: The number is not -1, and is used by fstat(2) alone, for which one that is not open is EBADF.
        let borrowed = (number >= FIRST_NUMBER).then(|| unsafe { BorrowedFd::borrow_raw(number) });
        borrowed.and_then(|fd| Self::of(fd).ok())
    }
}

/// What the variable says.
struct Letter<'a> {
    token: Option<Token>,
    files: &'a str,
}

impl<'a> Letter<'a> {
    /// Reads the variable's value, if `parent` made it for its own child. The parent is 0 if it is in a pid namespace that
    /// we cannot see.
    fn read(value: &'a str, parent: i32) -> Option<Self> {
        let mut words = value.split(' ');
        let (pid, token, files) = (words.next()?, words.next()?, words.next()?);
        let ours = parent == 0 || pid.parse() == Ok(parent);
        ours.then(|| Self { token: Token::from_digits(token), files })
    }

    /// Which file the parent handed over under a number.
    fn file(&self, number: RawFd) -> Option<File> {
        self.files.split(',').find_map(|entry| {
            let (known, file) = entry.split_once('=')?;
            let (device, inode) = file.split_once(':')?;
            let file = File { device: device.parse().ok()?, inode: inode.parse().ok()? };
            (known.parse() == Ok(number)).then_some(file)
        })
    }
}

/// The variable's value for a child of this process.
pub(super) fn variable_value(fds: &[(OwnedFd, RawFd)], token: Option<&Token>) -> Result<String, ChildError> {
    let entry = |(fd, number): &(OwnedFd, RawFd)| {
        File::of(fd).map(|File { device, inode }| format!("{number}={device}:{inode}"))
    };
    let files = fds.iter().map(entry).collect::<Result<Vec<String>, _>>()?;
    let token = token.map_or_else(|| "-".to_owned(), Token::digits);
    Ok(format!("{} {token} {}", std::process::id(), files.join(",")))
}

/// Refuses numbers that cannot be.
pub(super) fn check_numbers(fds: &[(OwnedFd, RawFd)]) -> Result<(), ChildError> {
    let limit = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)
        .map_err(ChildError::from_call("getrlimit"))?
        .0;
    let mut seen = BTreeSet::new();
    for &(_, number) in fds {
        if number < FIRST_NUMBER {
            return Err(ChildError::ReservedNumber { number });
        }
        if u64::from(number.cast_unsigned()) >= limit {
            return Err(ChildError::NumberOverLimit { number, limit });
        }
        if !seen.insert(number) {
            return Err(ChildError::NumberTwice { number });
        }
    }
    Ok(())
}

/// Occupies each target number in this process, unless something has it already.
///
/// The standard library opens a pipe of its own for the new child, through which the child reports a failed exec. If that
/// pipe got one of the target numbers, the child would close it when it puts our descriptor there, and the report would
/// go to whoever is at the other end of our descriptor.
pub(super) fn occupy_numbers(fds: &[(OwnedFd, RawFd)]) -> Result<Vec<OwnedFd>, ChildError> {
    fds.iter().map(|(fd, number)| duplicate_from(fd, *number)).collect()
}

/// Duplicates to the first free number from `first` on.
fn duplicate_from(fd: &OwnedFd, first: RawFd) -> Result<OwnedFd, ChildError> {
    let number = fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(first)).map_err(ChildError::from_call("fcntl"))?;
    // SAFETY: fcntl(2) with F_DUPFD_CLOEXEC returns a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// What the child does between fork and exec. Everything it needs is allocated before.
pub(super) struct Handover {
    moves: Vec<Move>,
    /// The first number above all targets.
    above: RawFd,
}

struct Move {
    source: RawFd,
    target: RawFd,
    /// Where the descriptor waits until all targets are free.
    staged: RawFd,
}

impl Handover {
    pub(super) fn new(fds: &[(OwnedFd, RawFd)]) -> Self {
        let moves = fds.iter().map(|(fd, target)| Move { source: fd.as_raw_fd(), target: *target, staged: -1 });
        let above = fds.iter().map(|(_, target)| target.saturating_add(1)).max().unwrap_or(FIRST_NUMBER);
        Self { moves: moves.collect(), above }
    }

    /// Puts the descriptors to their numbers, and leaves everything else close-on-exec.
    ///
    /// Async-signal-safe: system calls and arithmetic only.
    pub(super) fn run(&mut self) -> io::Result<()> {
        close_everything_on_exec()?;
        // A target may be the source of another move (even a -> b and b -> a), so all sources first go to numbers above
        // all targets. Those copies are close-on-exec and vanish by themselves.
        for each in &mut self.moves {
            // SAFETY: fcntl(2) with F_DUPFD_CLOEXEC touches no memory; a wrong number is EBADF.
            each.staged = check(unsafe { libc::fcntl(each.source, libc::F_DUPFD_CLOEXEC, self.above) })?;
        }
        for each in &self.moves {
            // SAFETY: dup2(2) touches no memory. What the target number was before belongs to this process image, which
            // exec is about to replace. The copy is not close-on-exec.
            check(unsafe { libc::dup2(each.staged, each.target) })?;
        }
        Ok(())
    }
}

/// Marks all descriptors but the standard ones close-on-exec, also those of libraries that forgot to.
fn close_everything_on_exec() -> io::Result<()> {
    // SAFETY: close_range(2) with CLOSE_RANGE_CLOEXEC changes flags of descriptors and touches no memory.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, FIRST_NUMBER, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 {
        return Ok(());
    }
    // Before Linux 5.11, or in a sandbox that does not know the call, each number has to be asked for.
    mark_one_by_one()
}

fn mark_one_by_one() -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: getrlimit(2) writes one `rlimit` to the address, which is that of a local variable.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    let end = RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX);
    for number in FIRST_NUMBER..end {
        // SAFETY: fcntl(2) with F_SETFD touches no memory; a number that is not open is EBADF, which is of no interest.
        unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(value: &str, parent: i32, number: RawFd) -> Option<File> {
        Letter::read(value, parent)?.file(number)
    }

    #[test]
    fn numbers_are_known_only_to_a_child_of_the_named_parent() {
        let expected = Some(File { device: 8, inode: 21 });
        assert_eq!(file("17 - 3=8:20,4=8:21", 17, 4), expected);
        assert_eq!(file("17 - 3=8:20,4=8:21", 0, 4), expected, "a parent that we cannot see");
        assert_eq!(file("17 - 3=8:20,4=8:21", 18, 4), None);
        assert_eq!(file("17 - 3=8:20,4=8:21", 17, 5), None);
    }

    proptest::proptest! {
        #[test]
        fn a_variable_that_was_tampered_with_never_panics(value: String, number: RawFd) {
            proptest::prop_assert_eq!(file(&value, 17, number), None);
        }
    }

    #[test]
    fn a_letter_says_which_file_a_number_is() {
        let (pipe, _other) = io::pipe().expect("two descriptors are free");
        let token = Token::new().expect("there are random bits");
        let fds = [(OwnedFd::from(pipe), 7)];
        let value = variable_value(&fds, Some(&token)).expect("the pipe is open");
        let letter = Letter::read(&value, std::process::id().cast_signed()).expect("it is ours");
        assert!(letter.token.is_some_and(|read| token.is(read.bytes())));
        assert_eq!(letter.file(7), File::at(fds[0].0.as_raw_fd()));
    }

    #[test]
    fn a_number_that_nobody_handed_over_is_refused() {
        let refused = take_inherited(1).expect_err("the tests are not started with descriptors");
        assert!(matches!(refused, ChildError::NotInherited { number: 1 }));
    }

    #[test]
    fn reserved_double_and_huge_numbers_are_refused() {
        let fd = || std::fs::File::open("/dev/null").map(OwnedFd::from).expect("there is a null device");
        let refused = |targets: &[RawFd]| {
            let fds: Vec<_> = targets.iter().map(|target| (fd(), *target)).collect();
            check_numbers(&fds).expect_err("these numbers cannot be")
        };
        assert!(matches!(refused(&[3, 2]), ChildError::ReservedNumber { number: 2 }));
        assert!(matches!(refused(&[-1]), ChildError::ReservedNumber { number: -1 }));
        assert!(matches!(refused(&[5, 4, 5]), ChildError::NumberTwice { number: 5 }));
        assert!(matches!(refused(&[RawFd::MAX]), ChildError::NumberOverLimit { number: RawFd::MAX, .. }));
    }

    #[test]
    fn marking_one_by_one_marks_an_open_descriptor() {
        let file = std::fs::File::open("/dev/null").expect("there is a null device");
        fcntl(&file, FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).expect("the flag can be cleared");
        mark_one_by_one().expect("the limit can be read");
        assert_eq!(fcntl(&file, FcntlArg::F_GETFD), Ok(libc::FD_CLOEXEC));
    }
}
