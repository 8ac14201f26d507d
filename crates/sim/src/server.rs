//! The machine as an OS process of its own.
//!
//! Whoever starts it keeps a control socket to it. A process joins over a socket pair: one end goes to the machine beside
//! [`Control::Join`], the other to the process. No socket that is listened to has a name, so no stranger can find one; behind a
//! window the machine shows its user what there is to tell of memory. The machine ends when
//! the control socket hangs up; a process ends, for the machine, when its own does.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use peermap_exec::Check;
use peermap_ipc::{Channel, Deadline, TypedChannel, Window};
use peermap_memory::{Arena, Budget, Switches};
use peermap_model::{Grace, ProcessId, Profile, team_bytes};
use peermap_report::Account;

use crate::account::{WINDOW, from_file, to_file};
use crate::host::{MachineHost, MachineOptions, SimError, Terms};
use crate::link::RemoteLink;
use crate::process::{Memory, Seat, SimProcess};
use crate::protocol::{Control, ControlReply, FromProcess, Ring, ToProcess};
use crate::service::{Bell, Service};

type ControlChannel = TypedChannel<ControlReply, Control>;
type ProcessChannel = TypedChannel<ToProcess, FromProcess>;

/// How long a reply may wait for whoever started the machine.
const REPLY_TIME: Duration = Duration::from_secs(5);

/// How many descriptors of memory lie beside one message: few beside those that a user may have in flight.
const DESCRIPTORS_AT_ONCE: usize = 64;

/// Serves a machine until whoever holds the other end of `control` is gone.
///
/// # Errors
/// If the machine cannot be made, or the kernel refuses to wait.
pub fn serve(control: Channel, profile: Profile, options: MachineOptions) -> Result<(), SimError> {
    let mut control = ControlChannel::new(control);
    let host = match MachineHost::new(profile, options) {
        Ok(host) => host,
        Err(error) => {
            control.send(&ControlReply::Failed(error.to_string()), &[], Deadline::after(REPLY_TIME))?;
            return Err(error);
        }
    };
    let window = Window::open(WINDOW)?;
    control.send(&ControlReply::Ready, &[], Deadline::after(REPLY_TIME))?;
    let mut server = Server { host, control, window, processes: BTreeMap::new() };
    while server.turn()? {}
    Ok(())
}

/// A process of the machine.
struct Place {
    channel: ProcessChannel,
    node: Option<u16>,
    /// Where the process hears that others wait for it.
    bell: Option<TypedChannel<Ring, ()>>,
}

/// Who may have something to say.
struct Heard {
    control: bool,
    /// Descriptors that have gone.
    gone: bool,
    visitors: bool,
    processes: Vec<ProcessId>,
}

struct Server {
    host: MachineHost,
    control: ControlChannel,
    /// Where anybody of this user learns what there is to tell of memory.
    window: Window,
    processes: BTreeMap<ProcessId, Place>,
}

impl Server {
    /// Waits for something to happen and deals with it. False once the control socket has hung up.
    fn turn(&mut self) -> Result<bool, SimError> {
        let Heard { control, gone, visitors, processes } = self.wait()?;
        if gone {
            self.notice_gone();
        }
        // Who ended before a question was asked must be gone in its answer, so the ended are looked for once a question
        // is there.
        for process in self.ended()? {
            while self.hear(process) {}
            self.leave(process);
        }
        for process in processes {
            if !self.hear(process) {
                self.leave(process);
            }
        }
        if visitors {
            self.show();
        }
        Ok(!control || self.hear_control())
    }

    /// Lets a process go.
    fn leave(&mut self, process: ProcessId) {
        self.processes.remove(&process);
        self.note(|host| host.disconnect(process));
    }

    /// The processes whose connection has hung up.
    fn ended(&self) -> Result<Vec<ProcessId>, SimError> {
        let seats = self.processes.values();
        let mut polled: Vec<_> = seats.map(|seat| PollFd::new(seat.channel.as_fd(), PollFlags::empty())).collect();
        while let Err(error) = poll(&mut polled, PollTimeout::ZERO) {
            if error != Errno::EINTR {
                return Err(error.into());
            }
        }
        let hung_up = |polled: &PollFd<'_>| polled.any().unwrap_or(true);
        let ended = self.processes.keys().zip(&polled).filter(|(_, polled)| hung_up(polled));
        Ok(ended.map(|(process, _)| *process).collect())
    }

    fn wait(&self) -> Result<Heard, SimError> {
        let always = [self.control.as_fd(), self.host.watch(), self.window.as_fd()];
        let mut polled: Vec<_> = always.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
        polled.extend(self.processes.values().map(|seat| PollFd::new(seat.channel.as_fd(), PollFlags::POLLIN)));
        while let Err(error) = poll(&mut polled, PollTimeout::NONE) {
            if error != Errno::EINTR {
                return Err(error.into());
            }
        }
        let speaks = |polled: &PollFd<'_>| polled.any().unwrap_or(true);
        let processes = self.processes.keys().zip(&polled[always.len()..]).filter(|(_, polled)| speaks(polled));
        Ok(Heard {
            control: speaks(&polled[0]),
            gone: speaks(&polled[1]),
            visitors: speaks(&polled[2]),
            processes: processes.map(|(process, _)| *process).collect(),
        })
    }

    fn notice_gone(&mut self) {
        self.note(MachineHost::notice_gone);
    }

    /// Does something that only fails if bytes cannot be given back to the kernel. The machine's own state stays right,
    /// and nobody waits for an answer; it goes to the log.
    fn note(&mut self, f: impl FnOnce(&mut MachineHost) -> peermap_driver::Result<()>) {
        if let Err(error) = f(&mut self.host) {
            eprintln!("peermap machine: {error}");
        }
    }

    /// Answers one packet of a process. False if the process is gone or talks nonsense.
    fn hear(&mut self, process: ProcessId) -> bool {
        let Some(seat) = self.processes.get_mut(&process) else { return true };
        // A process reads an answer before it asks again, so there is room for each. The machine waits for none that does not.
        let at_once = Deadline::after(Duration::ZERO);
        let Ok((question, mut beside)) = seat.channel.recv(1, at_once) else { return false };
        match question {
            FromProcess::Hello { pid } => {
                self.host.known_as(process, pid);
                seat.bell = beside.pop().and_then(|bell| Channel::from_fd(bell).ok()).map(TypedChannel::new);
                seat.channel.send(&welcome(&self.host, process, seat.node), &[], at_once).is_ok()
            }
            FromProcess::Memory { first } => {
                let all = self.host.descriptors();
                let some = all.chunks(DESCRIPTORS_AT_ONCE).nth(first as usize / DESCRIPTORS_AT_ONCE);
                some.is_some_and(|some| seat.channel.send(&ToProcess::Memory, some, at_once).is_ok())
            }
            FromProcess::Ask(ask) => match self.host.answer(process, ask, beside.first().map(AsFd::as_fd)) {
                Ok((answer, made)) => {
                    let beside: Vec<BorrowedFd<'_>> = made.iter().map(AsFd::as_fd).collect();
                    seat.channel.send(&ToProcess::Answer(answer), &beside, at_once).is_ok()
                }
                Err(error) => seat.channel.send(&ToProcess::Failed(error.to_string()), &[], at_once).is_ok(),
            },
            FromProcess::Urge(mark) => {
                self.ring(mark.recorder, Ring::Mark(mark));
                true
            }
            FromProcess::UrgeAll => {
                let others: Vec<ProcessId> = self.processes.keys().copied().filter(|other| *other != process).collect();
                others.into_iter().for_each(|other| self.ring(other, Ring::Work));
                true
            }
        }
    }

    /// Lets a process hear that another one waits for it. A bell that is full rings already.
    fn ring(&mut self, process: ProcessId, ring: Ring) {
        if let Some(bell) = self.processes.get_mut(&process).and_then(|seat| seat.bell.as_mut()) {
            drop(bell.send(&ring, &[], Deadline::after(Duration::ZERO)));
        }
    }

    /// Answers one packet of whoever started the machine. False if it is gone.
    fn hear_control(&mut self) -> bool {
        let Ok((request, beside)) = self.control.recv(1, Deadline::after(Duration::ZERO)) else { return false };
        let reply = match request {
            Control::Join { node } => self.join(node, beside),
            Control::Account => match self.account() {
                Ok(file) => {
                    return self
                        .control
                        .send(&ControlReply::Account, &[file.as_fd()], Deadline::after(REPLY_TIME))
                        .is_ok();
                }
                Err(error) => ControlReply::Failed(error.to_string()),
            },
        };
        self.control.send(&reply, &[], Deadline::after(REPLY_TIME)).is_ok()
    }

    fn account(&mut self) -> Result<OwnedFd, SimError> {
        to_file(&self.host.account().map_err(|error| SimError::Account(io::Error::other(error)))?)
    }

    /// Shows every visitor what there is to tell. One that does not take it at once goes without.
    fn show(&mut self) {
        while let Ok(Some(visitor)) = self.window.visitor() {
            if let Ok(file) = self.account() {
                drop(visitor.send(WINDOW.as_bytes(), &[file.as_fd()], Deadline::after(Duration::ZERO)));
            }
        }
    }

    fn join(&mut self, node: Option<u16>, mut beside: Vec<OwnedFd>) -> ControlReply {
        let Some(socket) = beside.pop() else { return ControlReply::Failed("no socket to join over".to_owned()) };
        match Channel::from_fd(socket) {
            Ok(channel) => {
                let process = self.host.connect(node);
                self.processes.insert(process, Place { channel: ProcessChannel::new(channel), node, bell: None });
                ControlReply::Ready
            }
            Err(error) => ControlReply::Failed(error.to_string()),
        }
    }
}

fn welcome(host: &MachineHost, process: ProcessId, node: Option<u16>) -> ToProcess {
    let MachineOptions { policy, grace, checks, .. } = *host.options();
    let grace_ms = match grace {
        Grace::Never => None,
        Grace::Calls(_) => Some(DEFAULT_GRACE_MS),
        Grace::Wall(time) => Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    };
    let terms = Terms { process, node, policy, grace_ms, checks };
    ToProcess::Welcome { profile: host.profile().name.clone(), terms }
}

/// The grace between processes, where a count of calls means nothing. Longer than a process of a busy host mostly waits for its
/// turn: code that forgets to wait shall fail there too.
const DEFAULT_GRACE_MS: u64 = 200;

/// The control socket of a machine in another OS process.
pub struct MachineClient {
    control: TypedChannel<Control, ControlReply>,
    /// How many answers are still to come. Each request has one, and one whose answer was not waited for gets it all the same.
    owed: u32,
}

impl MachineClient {
    /// Waits until the machine behind a control socket is ready.
    ///
    /// # Errors
    /// If it could not be made, or does not answer in time.
    pub fn new(control: Channel, deadline: Deadline) -> Result<Self, SimError> {
        let mut client = Self { control: TypedChannel::new(control), owed: 1 };
        client.expect_ready(deadline)?;
        Ok(client)
    }

    fn ask(&mut self, control: &Control, beside: &[BorrowedFd<'_>], deadline: Deadline) -> Result<(), SimError> {
        self.control.send(control, beside, deadline)?;
        self.owed += 1;
        Ok(())
    }

    /// The answer to the last request.
    fn answer(&mut self, deadline: Deadline) -> Result<(ControlReply, Vec<OwnedFd>), SimError> {
        loop {
            let answer = self.control.recv(1, deadline)?;
            self.owed -= 1;
            if self.owed == 0 {
                return Ok(answer);
            }
        }
    }

    fn expect_ready(&mut self, deadline: Deadline) -> Result<(), SimError> {
        match self.answer(deadline)?.0 {
            ControlReply::Ready => Ok(()),
            ControlReply::Account | ControlReply::Failed(_) => Err(SimError::OutOfTurn),
        }
    }

    /// A socket over which one process joins: for [`SimProcess::join`], in whatever OS process.
    ///
    /// # Errors
    /// If the machine does not answer in time.
    pub fn ticket(&mut self, deadline: Deadline) -> Result<OwnedFd, SimError> {
        self.ticket_on(None, deadline)
    }

    /// The same for a process on a node, of which it sees the devices. A process that is put on no node is on the first and
    /// sees the devices of all.
    ///
    /// # Errors
    /// If the machine does not answer in time.
    pub fn ticket_on(&mut self, node: Option<u16>, deadline: Deadline) -> Result<OwnedFd, SimError> {
        let (ours, theirs) = Channel::pair()?;
        self.admit(node, ours, deadline)?;
        Ok(theirs.into_fd())
    }

    /// Lets a process join over a channel that it has made itself: its own end is its ticket.
    ///
    /// # Errors
    /// If the machine does not answer in time.
    pub fn admit(&mut self, node: Option<u16>, channel: Channel, deadline: Deadline) -> Result<(), SimError> {
        self.ask(&Control::Join { node }, &[channel.as_fd()], deadline)?;
        drop(channel);
        self.expect_ready(deadline)
    }

    /// What the machine can tell of its memory, as [`SimMachine::account`](crate::SimMachine::account).
    ///
    /// # Errors
    /// If the machine does not answer in time.
    pub fn account(&mut self, deadline: Deadline) -> Result<Account, SimError> {
        self.ask(&Control::Account, &[], deadline)?;
        match self.answer(deadline)? {
            (ControlReply::Account, mut beside) => from_file(beside.pop().ok_or(SimError::OutOfTurn)?),
            (ControlReply::Ready | ControlReply::Failed(_), _) => Err(SimError::OutOfTurn),
        }
    }
}

impl SimProcess {
    /// Joins a machine in another OS process over a [ticket](MachineClient::ticket), with a value of
    /// `CUDA_VISIBLE_DEVICES`.
    ///
    /// # Errors
    /// If the machine does not answer in time, or the host cannot back the process's page tables.
    pub fn join(ticket: OwnedFd, visible: Option<&str>, deadline: Deadline) -> Result<Self, SimError> {
        let mut channel: TypedChannel<FromProcess, ToProcess> = TypedChannel::new(Channel::from_fd(ticket)?);
        let (bell, rope) = Channel::pair()?;
        channel.send(&FromProcess::Hello { pid: std::process::id() }, &[rope.as_fd()], deadline)?;
        drop(rope);
        let ToProcess::Welcome { profile, terms } = channel.recv(0, deadline)?.0 else {
            return Err(SimError::OutOfTurn);
        };
        let profile = Profile::named(&profile)?;
        let arena_count = profile.devices.len() + usize::from(profile.host_numa_nodes);
        let marked = terms.checks.has(Check::Uninitialised);
        let for_each_arena = 2 + usize::from(marked);
        let memory = fetch_memory(&mut channel, 2 + for_each_arena * arena_count, deadline)?;
        let memory = open_memory(&profile, memory, marked)?;
        let seat = Seat::new(&profile, terms.node, visible);
        let memory = Memory::new(&profile, seat.devices(), memory, terms.checks)?;
        let time = terms.grace_ms.map(Duration::from_millis);
        let grace = time.map_or(Grace::Never, Grace::Wall);
        let link = Box::new(RemoteLink::new(channel));
        let simulated = Self::new(terms.process, profile, seat, terms.policy, grace, link, memory);
        simulated.start_service(Service::Bell(Bell::new(bell), time));
        Ok(simulated)
    }
}

/// The descriptors of the machine's memory.
fn fetch_memory(
    channel: &mut TypedChannel<FromProcess, ToProcess>,
    count: usize,
    deadline: Deadline,
) -> Result<Vec<OwnedFd>, SimError> {
    let mut memory = Vec::new();
    while memory.len() < count {
        channel.send(&FromProcess::Memory { first: memory.len() as u32 }, &[], deadline)?;
        match channel.recv(DESCRIPTORS_AT_ONCE, deadline)? {
            (ToProcess::Memory, some) if !some.is_empty() => memory.extend(some),
            _ => return Err(SimError::OutOfTurn),
        }
    }
    Ok(memory)
}

/// The machine's memory from its descriptors: the budget, the switches, then two for each arena, or three if written bytes are
/// marked.
fn open_memory(
    profile: &Profile,
    descriptors: Vec<OwnedFd>,
    marked: bool,
) -> Result<(Vec<Arc<Arena>>, Arc<Switches>), SimError> {
    let mut descriptors = descriptors.into_iter();
    let budget = Arc::new(Budget::from_fd(descriptors.next().ok_or(SimError::OutOfTurn)?)?);
    let switches = descriptors.next().ok_or(SimError::OutOfTurn)?;
    let (devices, granularity) = (profile.devices.len(), profile.granularity.get());
    let switches = Arc::new(Switches::from_fd(switches, team_bytes(profile).get(), granularity, devices)?);
    let mut arenas = Vec::new();
    while let (Some(bytes), Some(written)) = (descriptors.next(), descriptors.next()) {
        let index = u8::try_from(arenas.len()).map_err(|_| SimError::OutOfTurn)?;
        let mut arena = Arena::from_fds(index, [bytes, written], granularity, Arc::clone(&budget))?;
        if marked {
            arena = arena.marked_as(descriptors.next().ok_or(SimError::OutOfTurn)?)?;
        }
        arenas.push(Arc::new(arena));
    }
    Ok((arenas, switches))
}
