//! The coordinator's side: a process of the trace that lives in an OS process of its own.

use std::os::fd::OwnedFd;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use nix::sys::signal::Signal;
use peermap_driver::with_causes;
use peermap_ipc::{Child, Deadline, Exit, IpcError, Output, Spawn, TypedChannel};

use super::describe::Description;
use super::launch::{Launch, PlayerCommand};
use super::protocol::{Order, Report, SentParcel, beside};
use crate::format::Step;
use crate::player::{Actor, DiedAtStart, End, Got, Parcel, PlayError, Stage, StartError};

/// How long a player may take to start even if its steps get less: that a call is quick says nothing about loading a
/// driver.
const START_TIME: Duration = Duration::from_secs(5);

/// How long a player may take to end: work on a device is cut off first.
const END_TIME: Duration = Duration::from_secs(30);

/// Held for reading while players work, and for writing while one is started.
///
/// Between fork and exec a new process has copies of all descriptors of this one, those of exported memory included.
/// Nothing may be released meanwhile, or whoever looks would find it still there.
static STARTING: RwLock<()> = RwLock::new(());

/// Each process of a trace in an OS process of its own.
///
/// A step that does not come back within the limit ends with its process ([`Got::TimedOut`]). What a process sends, it
/// really sends. A closed descriptor reaches the driver by the number that it had.
pub struct Separate<'l> {
    launch: &'l dyn Launch,
    limit: Duration,
}

impl<'l> Separate<'l> {
    /// A stage whose players are started by `launch`, with a time limit for each step and each start.
    #[must_use]
    pub const fn new(launch: &'l dyn Launch, limit: Duration) -> Self {
        Self { launch, limit }
    }
}

impl Stage for Separate<'_> {
    type Actor = RemoteProcess;

    fn start(&mut self, process: u32) -> Result<RemoteProcess, StartError> {
        RemoteProcess::start(process, self.launch, self.limit)
    }

    fn end(&mut self, _process: u32, actor: RemoteProcess, how: End) {
        match how {
            End::Exit => actor.exit(),
            End::Kill => actor.kill(),
        }
    }
}

/// A process of a trace that lives in an OS process of its own.
pub struct RemoteProcess {
    number: u32,
    line: TypedChannel<Order, Report>,
    child: Child,
    limit: Duration,
    may_crash: bool,
}

impl RemoteProcess {
    pub(super) fn start(number: u32, launch: &dyn Launch, limit: Duration) -> Result<Self, StartError> {
        let PlayerCommand { exe, args, env, channel, descriptors } = launch.command()?;
        // What the driver prints is no data of ours.
        let spawn = Spawn::new(exe).arg0("peermap").args(args).stdout(Output::Null);
        let spawn = env.into_iter().fold(spawn, |spawn, (name, value)| spawn.env(name, value));
        let (spawn, ours) = spawn.connect(channel)?;
        let spawn = descriptors.into_iter().fold(spawn, |spawn, (fd, number)| spawn.inherit(fd, number));
        let starting = STARTING.write().unwrap_or_else(PoisonError::into_inner);
        let child = spawn.spawn()?;
        drop(starting);
        let mut player = Self { number, line: TypedChannel::new(ours), child, limit, may_crash: launch.may_crash() };
        match player.line.recv(0, Deadline::after(limit.max(START_TIME))) {
            Ok((Report::Ready, _)) => Ok(player),
            Ok((Report::Failed(why), _)) => Err(why.into()),
            Ok(_) => Err(PlayError::OutOfTurn { process: number }.into()),
            Err(IpcError::PeerClosed) => Err(DiedAtStart(player.child.wait(Deadline::after(END_TIME))?).into()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn describe(&mut self) -> Result<Description, StartError> {
        match self.ask(&Order::Describe, None) {
            Ok((Report::Is(description), _)) => Ok(description),
            Ok((Report::Failed(why), _)) => Err(why.into()),
            Ok(_) => Err(self.out_of_turn().to_string().into()),
            Err(got) => Err(got.to_string().into()),
        }
    }

    /// Lets the process end itself, without unwinding.
    pub(super) fn exit(mut self) {
        if self.line.send(&Order::Exit, &[], Deadline::after(self.limit)).is_ok() {
            // A process that does not end is killed when it is dropped.
            drop(self.child.wait(Deadline::after(END_TIME)));
        }
    }

    fn kill(mut self) {
        // Neither error can be helped: a process that cannot be killed belongs to somebody else by now, and one that
        // does not end in time hangs in the kernel.
        drop(self.child.kill());
        drop(self.child.wait(Deadline::after(END_TIME)));
    }

    /// Gives an order and waits for the report.
    fn ask(&mut self, order: &Order, parcel: Option<&Parcel>) -> Result<(Report, Vec<OwnedFd>), Got> {
        let working = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        let deadline = Deadline::after(self.limit);
        let beside = parcel.map(beside).unwrap_or_default();
        let answered = self.line.send(order, &beside, deadline).and_then(|()| self.line.recv(1, deadline));
        drop(working);
        answered.map_err(|error| self.lost(error))
    }

    /// Why a player does not answer.
    fn lost(&mut self, error: IpcError) -> Got {
        match error {
            IpcError::TimedOut => Got::TimedOut { limit: self.limit },
            IpcError::PeerClosed => match self.child.wait(Deadline::after(END_TIME)) {
                Ok(exit) => self.died(exit),
                Err(error) => Got::NotPlayed(PlayError::Elsewhere { why: with_causes(&error) }),
            },
            source => Got::NotPlayed(PlayError::Unreachable { process: self.number, source }),
        }
    }

    /// SIGKILL comes from outside, for example from a kernel that is out of memory. Any other signal in the middle of a
    /// call is the driver's own doing.
    fn died(&self, exit: Exit) -> Got {
        match exit {
            Exit::Signal(number) if self.may_crash => match Signal::try_from(number) {
                Ok(Signal::SIGKILL) | Err(_) => Got::Died(exit),
                Ok(signal) => Got::Crashed(signal),
            },
            Exit::Signal(_) | Exit::Code(_) => Got::Died(exit),
        }
    }

    const fn out_of_turn(&self) -> Got {
        Got::NotPlayed(PlayError::OutOfTurn { process: self.number })
    }
}

impl Actor for RemoteProcess {
    fn play(&mut self, step: &Step) -> Got {
        match self.ask(&Order::Play(step.into()), None) {
            Ok((Report::Did(got), _)) => got.unpack(step.call).unwrap_or_else(|| self.out_of_turn()),
            Ok(_) => self.out_of_turn(),
            Err(got) => got,
        }
    }

    fn give(&mut self, step: &Step) -> Result<Parcel, Got> {
        match self.ask(&Order::Give(step.into()), None)? {
            (Report::Gave(parcel), beside) => parcel.unpack(beside).ok_or_else(|| self.out_of_turn()),
            (Report::Did(got), _) => Err(got.unpack(step.call).unwrap_or_else(|| self.out_of_turn())),
            _ => Err(self.out_of_turn()),
        }
    }

    fn receive(&mut self, name: &str, parcel: Parcel) -> Result<(), Got> {
        let order = Order::Receive(name.to_owned(), SentParcel::from(&parcel));
        match self.ask(&order, Some(&parcel))? {
            (Report::Received, _) => Ok(()),
            _ => Err(self.out_of_turn()),
        }
    }
}
