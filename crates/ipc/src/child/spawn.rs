//! Describing and starting a child.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::error::ChildError;
use super::handover::{Handover, VARIABLE, check_numbers, occupy_numbers, variable_value};
use super::process::{Child, pidfd_open};
use crate::token::Token;
use crate::{Channel, Deadline, IpcError};

/// Where a child's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// To where ours goes.
    #[default]
    Inherit,
    /// Into a pipe, see [`Child::take_stdout`] and [`Child::take_stderr`]. Somebody has to read it, or the child stops
    /// when it is full.
    Piped,
    /// Nowhere.
    Null,
}

/// A child to be started.
///
/// The child gets our environment with changes, no standard input, and exactly the descriptors named with
/// [`Spawn::inherit`]: everything else is closed, even what a library opened without close-on-exec.
///
/// # Portability
/// Each target number is occupied in the parent while the child is started. If another thread closes a descriptor of its
/// own that has just this number at just this moment, a failed exec may go unreported (the child still ends). Numbers that
/// the parent itself does not use, or uses for its whole life, are safe.
#[derive(Debug)]
pub struct Spawn {
    exe: PathBuf,
    arg0: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    inherited: Vec<(OwnedFd, RawFd)>,
    token: Option<Token>,
    stdout: Output,
    stderr: Output,
}

impl Spawn {
    /// A child that runs `exe`, with that path as its name.
    #[must_use]
    pub fn new(exe: impl Into<PathBuf>) -> Self {
        let exe = exe.into();
        Self {
            arg0: exe.clone().into_os_string(),
            exe,
            args: Vec::new(),
            env: Vec::new(),
            inherited: Vec::new(),
            token: None,
            stdout: Output::default(),
            stderr: Output::default(),
        }
    }

    /// The name that the child sees as its own and that `ps` shows.
    #[must_use]
    pub fn arg0(mut self, name: impl AsRef<OsStr>) -> Self {
        self.arg0 = name.as_ref().to_owned();
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds a variable to the environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes a variable out of the environment, whether it is there or not.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Hands a descriptor to the child under `number`, where [`take_inherited`](super::take_inherited) picks it up. Our
    /// copy is closed once the child runs.
    #[must_use]
    pub fn inherit(mut self, fd: OwnedFd, number: RawFd) -> Self {
        self.inherited.push((fd, number));
        self
    }

    /// Makes a channel to the child, whose end is under `number`, where [`Channel::to_parent`] picks it up. The first thing
    /// on it is a proof that it is ours.
    ///
    /// # Errors
    /// [`IpcError::OpenFilesExhausted`] if this process has no descriptor left.
    pub fn connect(mut self, number: RawFd) -> Result<(Self, Channel), IpcError> {
        let (ours, theirs) = Channel::pair()?;
        let token = self.token.map_or_else(Token::new, Ok)?;
        ours.send(token.bytes(), &[], Deadline::after(Duration::ZERO))?;
        self.token = Some(token);
        Ok((self.inherit(theirs.into_fd(), number), ours))
    }

    /// Where standard output goes.
    #[must_use]
    pub fn stdout(mut self, output: Output) -> Self {
        self.stdout = output;
        self
    }

    /// Where standard error goes.
    #[must_use]
    pub fn stderr(mut self, output: Output) -> Self {
        self.stderr = output;
        self
    }

    /// Starts the child.
    ///
    /// The kernel kills the child when *the thread that called this* ends, not only when the process does. So start
    /// children from the main thread, or from one thread that lives as long as they shall. Changing user or group ids, or
    /// executing a program that does, takes this bond away.
    ///
    /// # Errors
    /// [`ChildError::ExecutableMissing`] and [`ChildError::Start`] name the executable;
    /// [`ChildError::ReservedNumber`], [`ChildError::NumberTwice`] and [`ChildError::NumberOverLimit`] are about
    /// descriptor numbers.
    ///
    /// # Source
    /// `PR_SET_PDEATHSIG` in prctl(2).
    pub fn spawn(self) -> Result<Child, ChildError> {
        check_numbers(&self.inherited)?;
        let occupied = occupy_numbers(&self.inherited)?;
        let mut command = self.command()?;
        let parent = pidfd_open(std::process::id()).map_err(ChildError::from_call("pidfd_open"))?;
        prepare_child(&mut command, parent, Handover::new(&self.inherited));
        let started = command.spawn();
        drop(occupied);
        match started {
            Ok(process) => Child::supervise(process),
            Err(source) => Err(ChildError::from_start(self.exe, source)),
        }
    }

    fn command(&self) -> Result<Command, ChildError> {
        let mut command = Command::new(&self.exe);
        command
            .arg0(&self.arg0)
            .args(&self.args)
            .env(VARIABLE, variable_value(&self.inherited, self.token.as_ref())?)
            .stdin(Stdio::null())
            .stdout(stdio(self.stdout))
            .stderr(stdio(self.stderr));
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ok(command)
    }
}

fn stdio(output: Output) -> Stdio {
    match output {
        Output::Inherit => Stdio::inherit(),
        Output::Piped => Stdio::piped(),
        Output::Null => Stdio::null(),
    }
}

/// Ties the child to us and hands the descriptors over.
fn prepare_child(command: &mut Command, parent: OwnedFd, mut handover: Handover) {
    let before_exec = move || {
        die_with(&parent)?;
        handover.run()
    };
    // SAFETY: CommandExt::pre_exec: between fork and exec only async-signal-safe functions may be called, and no memory
    // may be allocated. The closure makes system calls only and works on memory that was allocated before.
    unsafe { command.pre_exec(before_exec) };
}

/// Has the kernel kill this process when `parent`, the process that spawned it, ends.
fn die_with(parent: &OwnedFd) -> io::Result<()> {
    // SAFETY: prctl(2) with PR_SET_PDEATHSIG takes a signal number and touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // If the parent ended before that call, the signal never comes. Its process id would not tell in another pid namespace,
    // where it is 0.
    let mut polled = libc::pollfd { fd: parent.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: poll(2) reads and writes the one entry, which is a local variable, and does not wait.
    if unsafe { libc::poll(&raw mut polled, 1, 0) } != 0 {
        // SAFETY: _exit(2) ends this process at once; nobody is left who could read a status or an error.
        unsafe { libc::_exit(1) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_about_a_variable_counts() {
        let spawn = Spawn::new("/child").env("kept", "1").env("dropped", "1").env_remove("dropped").env_remove("kept");
        let command = spawn.env("kept", "2").command().unwrap();
        let told = |name: &str| command.get_envs().find(|(known, _)| *known == name).map(|(_, value)| value);
        assert_eq!((told("kept"), told("dropped")), (Some(Some("2".as_ref())), Some(None)));
    }
}
