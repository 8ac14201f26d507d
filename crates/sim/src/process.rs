//! A simulated process: its half of the model, its page tables, its way to the machine.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use peermap_driver::{Call, DriverError, Result};
use peermap_exec::{Checks, History};
use peermap_ipc::forks;
use peermap_memory::{Arena, Switches, Table, View, device_window};
use peermap_model::{
    Ask, Grace, Misuse, Outside, Policy, Process, ProcessId, ProcessOptions, Profile, ThreadId, devices_seen, rules,
};

use crate::code::CodeStore;
use crate::host::SimError;
use crate::link::Link;
use crate::multicast::TEAM_TIME;
use crate::pinned::PinnedMemory;
use crate::printed::Printer;
use crate::tables::Tables;

/// The bytes that a process reaches, by which tables, and what kernels that do so are watched for.
pub(crate) struct Memory {
    pub(crate) tables: Vec<Table>,
    pub(crate) arenas: Vec<Arc<Arena>>,
    pub(crate) switches: Arc<Switches>,
    pub(crate) checks: Checks,
    /// How long the work of each device takes, in percent of what it takes here.
    time_percent: Vec<u32>,
    /// What kernels and copies did that are under way together, if that is watched.
    pub(crate) history: History,
}

impl Memory {
    /// Tables for these devices of the machine and the host.
    pub(crate) fn new(
        profile: &Profile,
        devices: &[u16],
        (arenas, switches): (Vec<Arc<Arena>>, Arc<Switches>),
        checks: Checks,
    ) -> std::result::Result<Self, SimError> {
        let window = device_window()?;
        let tables = (0..=devices.len())
            .map(|_| Table::new(window.base, window.bytes, profile.granularity.get()))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let percent =
            |device: &u16| profile.devices.get(usize::from(*device)).map_or(100, |device| device.time_percent);
        let time_percent = devices.iter().map(percent).collect();
        Ok(Self { tables, arenas, switches, checks, time_percent, history: History::default() })
    }

    /// How much longer a device takes for work that took so long here.
    pub(crate) fn lag(&self, device: Option<usize>, took: Duration) -> Duration {
        let percent = device.and_then(|ordinal| self.time_percent.get(ordinal)).map_or(100, |percent| *percent);
        took * percent.saturating_sub(100) / 100
    }

    /// Mapped memory of the host as the CPU sees it.
    pub(crate) fn host_view(&self) -> View<'_> {
        self.view(self.tables.len() - 1)
    }

    /// Memory as a device sees it.
    pub(crate) fn view(&self, ordinal: usize) -> View<'_> {
        View::new(&self.tables[ordinal], &self.arenas).with_switches(&self.switches)
    }
}

/// Where a process sits.
pub(crate) struct Seat {
    node: u16,
    visible: Vec<u16>,
}

impl Seat {
    /// On a node, or on the first with the devices of all, as far as `visible` lets it see them.
    pub(crate) fn new(profile: &Profile, node: Option<u16>, visible: Option<&str>) -> Self {
        Self { node: node.unwrap_or(0), visible: devices_seen(profile, node, visible) }
    }

    /// The devices that it sees, by their numbers in the machine.
    pub(crate) fn devices(&self) -> &[u16] {
        &self.visible
    }
}

/// What changes in a process.
pub(crate) struct State {
    pub(crate) process: Process,
    pub(crate) link: Box<dyn Link>,
    pub(crate) pinned: PinnedMemory,
    pub(crate) code: CodeStore,
    /// Why the simulation of this process cannot go on, once it cannot.
    pub(crate) broken: Option<DriverError>,
    /// How many threads wait for an item of work that another one runs.
    pub(crate) waiting: u32,
    /// How many threads run work as one piece.
    pub(crate) in_turn: u32,
    /// How long a call waits for a whole team.
    pub(crate) team_time: Duration,
    /// Whether a thread that runs what a kernel waits for has been made and has not begun.
    pub(crate) helper_starts: bool,
}

/// What all threads of a process share.
pub(crate) struct Inner {
    state: Mutex<State>,
    /// Signalled when an item of work has ended, if anybody waits.
    pub(crate) changed: Condvar,
    pub(crate) memory: Memory,
    /// For threads that work for it.
    pub(crate) this: Weak<Self>,
    pub(crate) printer: Printer,
    started: Instant,
    /// In which process it was made, should that be forked.
    forks: u32,
}

/// A simulated process. As a [`Driver`](peermap_driver::Driver) it acts for the calling OS thread.
///
/// The process ends when the last value that belongs to it is dropped: what it held is given back, and work that is
/// still queued is lost, as on hardware.
#[derive(Clone)]
pub struct SimProcess {
    pub(crate) inner: Arc<Inner>,
    end: Arc<End>,
}

/// A host thread of a simulated process, whatever OS thread calls.
#[derive(Clone)]
pub struct SimThread {
    pub(crate) inner: Arc<Inner>,
    pub(crate) thread: ThreadId,
    _end: Arc<End>,
}

/// The last word of a process, when the last value of it is dropped: threads that work for it may have it a little longer.
struct End(Arc<Inner>);

/// Numbers of OS threads begin here; below are those of [`SimProcess::thread`].
const FIRST_OS_THREAD: u64 = 1 << 32;

/// The calling OS thread.
pub(crate) fn os_thread() -> ThreadId {
    static NEXT: AtomicU64 = AtomicU64::new(FIRST_OS_THREAD);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        ThreadId(number.get())
    })
}

impl SimProcess {
    pub(crate) fn new(
        id: ProcessId,
        profile: Profile,
        seat: Seat,
        policy: Policy,
        grace: Grace,
        link: Box<dyn Link>,
        memory: Memory,
    ) -> Self {
        let (window_base, window_bytes) =
            memory.tables.first().map_or((0, 0), |table| (table.window_base(), table.window_bytes()));
        let Seat { node, visible } = seat;
        let options = ProcessOptions { policy, grace, window_base, window_bytes, node };
        let state = State {
            process: Process::new(id, Arc::new(profile), visible, options),
            link,
            pinned: PinnedMemory::default(),
            code: CodeStore::default(),
            broken: None,
            waiting: 0,
            in_turn: 0,
            team_time: TEAM_TIME,
            helper_starts: false,
        };
        let inner = Arc::new_cyclic(|this| Inner {
            state: Mutex::new(state),
            changed: Condvar::new(),
            memory,
            this: Weak::clone(this),
            printer: Printer::default(),
            forks: forks(),
            started: Instant::now(),
        });
        Self { end: Arc::new(End(Arc::clone(&inner))), inner }
    }

    /// A host thread of this process by a number below 2^32: it has a stack of contexts of its own.
    #[must_use]
    pub fn thread(&self, number: u32) -> SimThread {
        let (inner, end) = (Arc::clone(&self.inner), Arc::clone(&self.end));
        SimThread { inner, thread: ThreadId(u64::from(number)), _end: end }
    }

    /// The number of the process in its machine.
    #[must_use]
    pub fn id(&self) -> ProcessId {
        self.inner.lock().process.id()
    }

    /// Gives what kernels print to `printer` instead of standard output, a launch at a time.
    pub fn print_with(&self, printer: impl Fn(&[u8]) + Send + Sync + 'static) {
        self.inner.printer.set(Box::new(printer));
    }

    /// Lets kernels of modules that are loaded from now on run for so long: 60 seconds if this was never called. One that
    /// takes longer ends as `LAUNCH_TIMEOUT`, and its explanation says where it was.
    pub fn allow_kernels(&self, most: Duration) {
        self.inner.lock().code.most_time = most;
    }

    /// What the process did that the driver accepts and a careful program does not do.
    #[must_use]
    pub fn misuses(&self) -> Vec<Misuse> {
        self.inner.lock().process.misuses().to_vec()
    }
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is a fork of the process that made it: a lock that another thread had then is never given back.
    fn is_forked(&self) -> bool {
        forks() != self.forks
    }

    /// Nanoseconds since the process began, for event times.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Makes a call: lets the model answer.
    pub(crate) fn call<T>(
        &self,
        call: Call,
        answer: impl FnOnce(&mut Process, &mut Outside<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut state = self.enter(call)?;
        self.answer(&mut state, answer)
    }

    /// Lets the model answer, and the machine know what is to be said of it.
    fn answer<T>(
        &self,
        state: &mut State,
        answer: impl FnOnce(&mut Process, &mut Outside<'_>) -> Result<T>,
    ) -> Result<T> {
        let State { process, link, .. } = &mut *state;
        let mut tables = Tables(&self.memory.tables);
        let answered = answer(process, &mut Outside { machine: &mut **link, tables: &mut tables });
        state.report();
        answered
    }

    /// Begins a call: counts it, and runs work that is overdue by then.
    pub(crate) fn enter(&self, call: Call) -> Result<MutexGuard<'_, State>> {
        if self.is_forked() {
            return Err(rules::INIT_4.refuse(&[], None));
        }
        let mut state = self.lock();
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        state.process.enter(call)?;
        if let Some(plan) = state.process.overdue() {
            drop(state);
            self.run_whatever_comes(plan)?;
            state = self.lock();
        }
        Ok(state)
    }

    /// The second half of a call that had to wait for work.
    pub(crate) fn resume<T>(&self, answer: impl FnOnce(&mut Process, &mut Outside<'_>) -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        self.answer(&mut state, answer)
    }
}

impl State {
    /// Lets the machine know what the process did that a careful program does not do.
    fn report(&mut self) {
        for report in self.process.unreported() {
            let received = self.link.take_descriptor();
            // A machine that is gone needs to know nothing.
            drop(self.link.ask(report));
            self.link.beside().received = received;
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let Self(process) = self;
        if process.is_forked() {
            return;
        }
        let mut state = process.lock();
        let could_give_back = state.broken.is_none() && state.process.end();
        state.report();
        if !could_give_back {
            // As above.
            drop(state.link.ask(Ask::CannotGiveBack));
        }
    }
}
