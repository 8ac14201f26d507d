//! Processes as threads, one of which runs at a time: who does is decided by a seed, and time passes only when nobody can
//! go on.

use std::any::Any;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use peermap_ipc::stage::{OnStage, Stage};
use peermap_ipc::{Exit, Played};

use crate::fault::Who;

/// What unwinds a thread whose process was killed.
struct Killed;

/// The number of the signal of which processes die here.
const SIGKILL: i32 = 9;

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It can go on.
    Ready,
    /// It looked for what it waits for when so much had happened, and waits until this moment at most.
    Waits {
        seen: u64,
        until: Option<Instant>,
    },
    /// It is stopped until then.
    Stopped {
        until: Instant,
    },
    Ended(Exit),
}

struct Actor {
    who: Who,
    phase: Phase,
    killed: bool,
}

struct State {
    actors: Vec<Actor>,
    /// The one that runs.
    current: usize,
    now: Instant,
    random: fastrand::Rng,
    /// How much has happened: whoever looked before that looks again.
    happened: u64,
    begun: Instant,
    log: Vec<String>,
    /// What no process of a run may do.
    faults: Vec<String>,
    threads: Vec<JoinHandle<()>>,
}

/// The stage of a run.
pub(crate) struct Theatre {
    state: Mutex<State>,
    changed: Condvar,
}

/// The place of one process on it.
#[derive(Clone)]
pub(crate) struct Seat {
    theatre: Arc<Theatre>,
    me: usize,
}

/// What a run was like, apart from its result.
pub(crate) struct Performance {
    /// What happened, in its order.
    pub(crate) log: Vec<String>,
    /// What no process may do: wait for ever, panic.
    pub(crate) faults: Vec<String>,
}

impl Theatre {
    /// A stage on which the calling thread is the parent, and runs.
    pub(crate) fn open(seed: u64) -> Seat {
        let begun = Instant::now();
        let state = State {
            actors: vec![Actor { who: Who::Parent, phase: Phase::Ready, killed: false }],
            current: 0,
            now: begun,
            random: fastrand::Rng::with_seed(seed),
            happened: 0,
            begun,
            log: Vec::new(),
            faults: Vec::new(),
            threads: Vec::new(),
        };
        Seat { theatre: Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() }), me: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether an actor can run now.
    fn can_run(&self, actor: &Actor) -> bool {
        match actor.phase {
            Phase::Ended(_) => false,
            _ if actor.killed => true,
            Phase::Ready => true,
            Phase::Waits { seen, until } => seen < self.happened || until.is_some_and(|until| until <= self.now),
            Phase::Stopped { until } => until <= self.now,
        }
    }

    /// Lets one of those who can run go on; time passes if there is none.
    fn choose(&mut self) {
        loop {
            let able: Vec<usize> = (0..self.actors.len()).filter(|index| self.can_run(&self.actors[*index])).collect();
            if !able.is_empty() {
                self.current = able[self.random.usize(..able.len())];
                return;
            }
            let moments = self.actors.iter().filter_map(|actor| match actor.phase {
                Phase::Waits { until, .. } => until,
                Phase::Stopped { until } => Some(until),
                Phase::Ready | Phase::Ended(_) => None,
            });
            match moments.min() {
                Some(next) => self.now = next,
                None if self.actors.iter().all(|actor| matches!(actor.phase, Phase::Ended(_))) => return,
                None => self.nobody_goes_on(),
            }
        }
    }

    /// Everybody waits for ever: that is what must never be. All are killed.
    fn nobody_goes_on(&mut self) {
        let waiting = self.actors.iter().filter(|actor| !matches!(actor.phase, Phase::Ended(_)));
        let waiting: Vec<String> = waiting.map(|actor| name(actor.who)).collect();
        self.faults.push(format!("{} wait for ever", waiting.join(", ")));
        self.actors.iter_mut().for_each(|actor| actor.killed = true);
    }

    fn say(&mut self, who: Who, what: fmt::Arguments<'_>) {
        let time = self.now.duration_since(self.begun);
        self.log.push(format!("{:>9.3} {:<8} {what}", time.as_secs_f64() * 1e3, name(who)));
    }
}

pub(crate) fn name(who: Who) -> String {
    match who {
        Who::Parent => "parent".to_owned(),
        Who::Worker(number) => format!("worker {number}"),
    }
}

impl Seat {
    /// Puts the calling thread into this seat.
    pub(crate) fn enter(&self) -> OnStage {
        OnStage::enter(Arc::new(self.clone()))
    }

    /// Notes what happens.
    pub(crate) fn say(&self, what: fmt::Arguments<'_>) {
        let mut state = self.theatre.lock();
        let who = state.actors[self.me].who;
        state.say(who, what);
    }

    /// Something happened: somebody else may go on. Whoever was killed ends here.
    pub(crate) fn turn(&self) {
        let mut state = self.theatre.lock();
        state.happened += 1;
        state.choose();
        self.until_my_turn(state);
    }

    /// Ends the process of the calling thread.
    pub(crate) fn kill(&self) -> ! {
        let mut state = self.theatre.lock();
        state.actors[self.me].killed = true;
        drop(state);
        panic::resume_unwind(Box::new(Killed));
    }

    /// Stops the process of the calling thread for a time.
    pub(crate) fn stop(&self, time: Duration) {
        let mut state = self.theatre.lock();
        let until = state.now + time;
        state.actors[self.me].phase = Phase::Stopped { until };
        state.choose();
        self.until_my_turn(state);
    }

    /// Whether the process was killed, so that nothing it does counts.
    pub(crate) fn is_dead(&self) -> bool {
        self.theatre.lock().actors[self.me].killed
    }

    fn until_my_turn(&self, mut state: MutexGuard<'_, State>) {
        self.theatre.changed.notify_all();
        while state.current != self.me {
            state = self.theatre.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let actor = &mut state.actors[self.me];
        actor.phase = Phase::Ready;
        let killed = actor.killed;
        drop(state);
        // A thread that unwinds already is ending anyway.
        if killed && !thread::panicking() {
            panic::resume_unwind(Box::new(Killed));
        }
    }

    /// A seat for another process.
    pub(crate) fn beside(&self, who: Who) -> Self {
        let mut state = self.theatre.lock();
        state.actors.push(Actor { who, phase: Phase::Ended(Exit::Code(0)), killed: false });
        Self { theatre: Arc::clone(&self.theatre), me: state.actors.len() - 1 }
    }

    /// Has a thread play the process of this seat.
    pub(crate) fn play(&self, work: impl FnOnce() -> i32 + Send + 'static) -> Result<Box<dyn Played>, std::io::Error> {
        let (end, lasts) = std::io::pipe()?;
        let mut state = self.theatre.lock();
        let own = self.clone();
        let thread = thread::Builder::new().spawn(move || own.perform(work, lasts.into()))?;
        state.actors[self.me].phase = Phase::Ready;
        state.threads.push(thread);
        Ok(Box::new(Player { seat: self.clone(), end: end.into() }))
    }

    /// The whole life of a process that is played.
    fn perform(&self, work: impl FnOnce() -> i32, lasts: OwnedFd) {
        let _stage = self.enter();
        let lived = || {
            self.until_my_turn(self.theatre.lock());
            work()
        };
        let exit = match panic::catch_unwind(AssertUnwindSafe(lived)) {
            Ok(code) => Exit::Code(code),
            Err(reason) => self.ended_by(&*reason),
        };
        drop(lasts);
        let mut state = self.theatre.lock();
        let who = state.actors[self.me].who;
        state.say(who, format_args!("ends: {exit}"));
        state.actors[self.me].phase = Phase::Ended(exit);
        state.happened += 1;
        state.choose();
        self.theatre.changed.notify_all();
    }

    fn ended_by(&self, reason: &(dyn Any + Send)) -> Exit {
        if !reason.is::<Killed>() {
            let words = reason.downcast_ref::<String>().map(String::as_str).or(reason.downcast_ref::<&str>().copied());
            let mut state = self.theatre.lock();
            let who = name(state.actors[self.me].who);
            state.faults.push(format!("{who} panics: {}", words.unwrap_or("without words")));
        }
        Exit::Signal(SIGKILL)
    }

    /// Does what the parent does; `None` if it was killed. Then waits until all others have ended.
    pub(crate) fn parent<T>(self, work: impl FnOnce() -> T) -> (Option<T>, Performance) {
        let stage = self.enter();
        let result = panic::catch_unwind(AssertUnwindSafe(work));
        let result = result.map_err(|reason| self.ended_by(&*reason)).ok();
        let mut state = self.theatre.lock();
        if result.is_none() {
            state.say(Who::Parent, format_args!("ends: {}", Exit::Signal(SIGKILL)));
        }
        // What is left of the others ends with the parent.
        state.actors.iter_mut().skip(1).for_each(|actor| actor.killed = true);
        state.actors[self.me].phase = Phase::Ended(Exit::Code(0));
        state.choose();
        self.theatre.changed.notify_all();
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        for thread in threads {
            // What it panicked of is noted.
            let _ = thread.join();
        }
        drop(stage);
        let mut state = self.theatre.lock();
        let (log, faults) = (std::mem::take(&mut state.log), std::mem::take(&mut state.faults));
        drop(state);
        (result, Performance { log, faults })
    }
}

impl Stage for Seat {
    fn now(&self) -> Instant {
        self.theatre.lock().now
    }

    fn wait(&self, ready: &mut dyn FnMut() -> bool, until: Option<Instant>) -> bool {
        // Whatever this one did since it last waited, others may be waiting for.
        self.theatre.lock().happened += 1;
        loop {
            if ready() {
                return true;
            }
            let mut state = self.theatre.lock();
            if until.is_some_and(|until| until <= state.now) {
                return false;
            }
            state.actors[self.me].phase = Phase::Waits { seen: state.happened, until };
            state.choose();
            self.until_my_turn(state);
        }
    }
}

/// A process that is played, as its parent sees it.
struct Player {
    seat: Seat,
    end: OwnedFd,
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player").field("number", &self.seat.me).finish_non_exhaustive()
    }
}

impl Played for Player {
    fn pid(&self) -> u32 {
        self.seat.me as u32
    }

    fn end(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    fn exit(&self) -> Option<Exit> {
        match self.seat.theatre.lock().actors[self.seat.me].phase {
            Phase::Ended(exit) => Some(exit),
            _ => None,
        }
    }

    fn kill(&self) {
        self.seat.theatre.lock().actors[self.seat.me].killed = true;
    }
}
