//! The workers of a run, as the parent sees them: who does what, who died, and when all is over.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use peermap_driver::Uuid;
use peermap_ipc::{Child, ChildError, Deadline, Event as Seen, Exit, IpcError, TypedChannel, wait_any};
use peermap_report::{Event, EventSink};

use crate::backend::Backend;
use crate::calls::Heard;
use crate::error::{Complaint, RunError};
use crate::launch::{Launcher, Tuning, spawn};
use crate::messages::{Done, Start, Step, ToParent, ToWorker};

/// How long the others may go on after a failure, so that they can give back what they hold and report.
const GRACE: Duration = Duration::from_millis(300);

/// How long workers are heard before it is looked again whether one has died.
const HEARING: Duration = Duration::from_millis(20);

/// The parent's end of the channel to a worker.
pub(crate) type WorkerChannel = TypedChannel<ToWorker, ToParent>;

/// What a scenario adds to the supervision of its workers.
pub(crate) trait Conductor {
    /// A worker is initialised.
    fn ready(&mut self, worker: u32, pid: u32, events: &mut dyn EventSink);

    /// A worker needs what is shared: hands it over.
    fn supply(&mut self, ask: Ask<'_>) -> Result<(), IpcError>;

    /// A worker begins a step.
    fn step(&mut self, worker: u32, step: Step, events: &mut dyn EventSink);

    /// A worker will never arrive anywhere again: nobody may wait for it.
    fn lost(&mut self, worker: u32);
}

/// A worker that waits for what is shared.
pub(crate) struct Ask<'a> {
    pub(crate) channel: &'a mut WorkerChannel,
    pub(crate) deadline: Deadline,
}

/// A worker, as the parent sees it.
pub(crate) struct Hand {
    worker: u32,
    child: Child,
    channel: WorkerChannel,
    /// Whether the worker can still say something.
    talking: bool,
    /// How it ended.
    pub(crate) exit: Option<Exit>,
    step: Step,
    /// How many steps it has begun.
    steps: u32,
    init_ms: Option<f64>,
    done: Option<Done>,
    pub(crate) calls: Heard,
}

/// Has nothing for whoever asks, and who asked has died.
struct NothingYet;

impl Conductor for NothingYet {
    fn ready(&mut self, _worker: u32, _pid: u32, _events: &mut dyn EventSink) {}

    fn supply(&mut self, _ask: Ask<'_>) -> Result<(), IpcError> {
        Err(IpcError::PeerClosed)
    }

    fn step(&mut self, _worker: u32, _step: Step, _events: &mut dyn EventSink) {}

    fn lost(&mut self, _worker: u32) {}
}

impl Hand {
    pub(crate) fn new(worker: u32, child: Child, channel: WorkerChannel) -> Self {
        let (talking, step, steps, calls) = (true, Step::Init, 0, Heard::default());
        Self { worker, child, channel, talking, exit: None, step, steps, init_ms: None, done: None, calls }
    }

    pub(crate) fn worker(&self) -> u32 {
        self.worker
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    pub(crate) fn step(&self) -> Step {
        self.step
    }

    /// How long the initialisation of the driver took, in milliseconds.
    pub(crate) fn init_ms(&self) -> Option<f64> {
        self.init_ms
    }

    /// What the worker reported at its end.
    pub(crate) fn done(&self) -> Option<&Done> {
        self.done.as_ref()
    }

    fn begin(&mut self, step: Step) {
        self.step = step;
        self.steps += 1;
    }

    /// What the death of this worker means: nothing if its work was done and it said so.
    fn verdict(&self, how: Exit) -> Option<RunError> {
        let finished = self.done.is_some() && how.is_success();
        (!finished).then(|| RunError::WorkerDied { worker: self.worker, pid: self.pid(), how, step: self.step })
    }

    /// What it means that something was sent to this worker and this came of it.
    fn reached(&self, sent: Result<(), IpcError>) -> Result<(), RunError> {
        match sent {
            // A worker that is gone is noticed by its end.
            Ok(()) | Err(IpcError::PeerClosed) => Ok(()),
            Err(IpcError::TimedOut) => {
                Err(RunError::TimedOut { worker: self.worker, pid: self.pid(), step: self.step })
            }
            Err(source) => Err(RunError::Channel { worker: self.worker, source }),
        }
    }

    fn complained(&self, complaint: Complaint) -> RunError {
        RunError::Worker { worker: self.worker, pid: self.pid(), step: self.step, complaint }
    }
}

/// The workers of a run.
#[derive(Default)]
pub(crate) struct Crew {
    hands: Vec<Hand>,
    /// Dismissed workers. They end by themselves, and are killed with the crew if they have not by then.
    spare: Vec<Hand>,
    /// Becomes readable when the machine ends that all of them need.
    lifeline: Option<OwnedFd>,
}

impl Crew {
    /// Nobody yet. Nobody works on once `lifeline` is readable.
    pub(crate) fn new(lifeline: Option<OwnedFd>) -> Self {
        Self { lifeline, ..Self::default() }
    }

    /// The workers by number.
    pub(crate) fn hands(&self) -> &[Hand] {
        &self.hands
    }

    /// Starts or dismisses workers until there are `count`. `device` is that of a worker, where it says on which node its
    /// process must be.
    pub(crate) fn resize(
        &mut self,
        count: u32,
        backend: &dyn Backend,
        launcher: &Launcher,
        tuning: Tuning,
        device: &dyn Fn(u32) -> Option<Uuid>,
    ) -> Result<(), RunError> {
        for worker in (0..count).skip(self.hands.len()) {
            self.hands.push(spawn(worker, device(worker), backend, launcher, tuning)?);
        }
        let mut spare = self.hands.split_off(count as usize);
        for hand in &mut spare {
            // One that is gone already needs no dismissal.
            let _ = hand.channel.send(&ToWorker::Dismiss, &[], Deadline::after(Duration::ZERO));
        }
        self.spare.append(&mut spare);
        Ok(())
    }

    /// Gives each worker its order, and the barrier if there is one. Those that are not initialised yet find it when they are.
    pub(crate) fn order(
        &mut self,
        order: &dyn Fn(u32) -> Start,
        barrier: Option<BorrowedFd<'_>>,
        deadline: Deadline,
    ) -> Result<(), RunError> {
        self.hands.iter_mut().try_for_each(|hand| {
            let sent = hand.channel.send(&ToWorker::Start(order(hand.worker)), barrier.as_slice(), deadline);
            hand.reached(sent)
        })
    }

    /// The first worker that has died, if one has, while there was nothing to be had yet. The others end with it.
    pub(crate) fn death(&mut self, events: &mut dyn EventSink) -> Option<RunError> {
        let death = self.hands.iter_mut().find_map(|hand| {
            hand.exit = hand.child.try_wait().ok()?;
            let exit = hand.exit?;
            // Its last words are still in the channel.
            listen(hand, &mut NothingYet, events, Deadline::after(Duration::ZERO)).or_else(|| hand.verdict(exit))
        })?;
        self.end_all();
        Some(death)
    }

    /// Watches the workers until all have ended, and gives the first thing that went wrong.
    ///
    /// After that first thing the others get a short time to report; then they are killed. Nobody is left when this returns.
    pub(crate) fn conduct(
        &mut self,
        conductor: &mut dyn Conductor,
        events: &mut dyn EventSink,
        deadline: Deadline,
    ) -> Result<(), RunError> {
        let mut trouble: Option<RunError> = None;
        let mut end = deadline;
        while self.hands.iter().any(|hand| hand.exit.is_none()) {
            // Among hundreds somebody always has something to say; that must not keep all of them beyond their time.
            if trouble.is_some() && end.has_passed() {
                break;
            }
            let news = match self.next(conductor, events, end) {
                Ok(news) => news,
                Err(error) => {
                    trouble.get_or_insert(error);
                    break;
                }
            };
            let Some((worker, error)) = news else { continue };
            conductor.lost(worker);
            if trouble.is_none() {
                trouble = Some(error);
                end = Deadline::after(deadline.remaining().map_or(GRACE, |left| left.min(GRACE)));
            }
        }
        self.end_all();
        trouble.map_or(Ok(()), Err)
    }

    /// Waits for the next thing to happen. Gives the worker that is lost, if that is what happened.
    fn next(
        &mut self,
        conductor: &mut dyn Conductor,
        events: &mut dyn EventSink,
        deadline: Deadline,
    ) -> Result<Option<(u32, RunError)>, RunError> {
        let (seen, talking) = self.wait(deadline)?;
        match seen {
            Seen::Ended { child, exit } => {
                let hand = &mut self.hands[child];
                // Its last words are still in the channel.
                let error = listen(hand, conductor, events, deadline);
                hand.exit = Some(exit);
                Ok(error.or_else(|| hand.verdict(exit)).map(|error| (hand.worker, error)))
            }
            Seen::Readable { fd } if fd == talking.len() => Err(RunError::MachineLost),
            Seen::Readable { fd } => {
                // Where one has something to say, many have: to hear them all now costs less than to wait for each again. But
                // whoever asks for its handles takes time, and a death among hundreds must not wait for all of them.
                let pause = Deadline::after(HEARING);
                let heard = talking[fd..].iter().take_while(|_| !pause.has_passed()).find_map(|index| {
                    let hand = &mut self.hands[*index];
                    listen(hand, conductor, events, deadline).map(|error| (hand.worker, error))
                });
                Ok(heard)
            }
        }
    }

    /// Waits until a worker has ended or has something to say. The second value are the indexes of those that can.
    fn wait(&mut self, deadline: Deadline) -> Result<(Seen, Vec<usize>), RunError> {
        let mut children = Vec::with_capacity(self.hands.len());
        let mut channels = Vec::with_capacity(self.hands.len());
        let mut talking = Vec::with_capacity(self.hands.len());
        for (index, hand) in self.hands.iter_mut().enumerate() {
            children.push(&mut hand.child);
            if hand.talking {
                channels.push(hand.channel.as_fd());
                talking.push(index);
            }
        }
        // The last, so that what the workers have to say of it is heard first.
        channels.extend(self.lifeline.iter().map(AsFd::as_fd));
        match wait_any(&mut children, &channels, deadline) {
            Ok(seen) => Ok((seen, talking)),
            Err(ChildError::TimedOut) => Err(self.timed_out()),
            Err(source) => Err(RunError::Watch { source }),
        }
    }

    /// The worker that is behind all others; or one that is stopped, for which others may wait although they are no further.
    fn timed_out(&self) -> RunError {
        let running = self.hands.iter().filter(|hand| hand.exit.is_none());
        match running.min_by_key(|hand| (!hand.child.is_stopped(), hand.steps)) {
            Some(hand) => RunError::TimedOut { worker: hand.worker, pid: hand.pid(), step: hand.step },
            None => RunError::Watch { source: ChildError::TimedOut },
        }
    }

    /// Kills whoever is left. All get the signal before the first is waited for.
    fn end_all(&mut self) {
        for hand in self.hands.iter_mut().filter(|hand| hand.exit.is_none()) {
            // What cannot be killed has ended, or became another user's; dropping it deals with both.
            let _ = hand.child.kill();
        }
        for hand in self.hands.iter_mut().filter(|hand| hand.exit.is_none()) {
            hand.exit = hand.child.wait(Deadline::after(Duration::from_secs(5))).ok();
        }
    }
}

/// Takes in all that a worker has said so far. Gives what went wrong, if it said that or cannot be understood.
fn listen(
    hand: &mut Hand,
    conductor: &mut dyn Conductor,
    events: &mut dyn EventSink,
    deadline: Deadline,
) -> Option<RunError> {
    while hand.talking {
        let message = match hand.channel.recv(0, Deadline::after(Duration::ZERO)) {
            Ok((message, _)) => message,
            Err(IpcError::TimedOut) => return None,
            Err(IpcError::PeerClosed) => {
                // Its process ends now, and how it ends says more than that it has closed the channel.
                hand.talking = false;
                return None;
            }
            Err(source) => {
                hand.talking = false;
                return Some(RunError::Channel { worker: hand.worker, source });
            }
        };
        if let Some(error) = take_in(hand, message, conductor, events, deadline) {
            return Some(error);
        }
    }
    None
}

fn take_in(
    hand: &mut Hand,
    message: ToParent,
    conductor: &mut dyn Conductor,
    events: &mut dyn EventSink,
    deadline: Deadline,
) -> Option<RunError> {
    let worker = hand.worker;
    match message {
        ToParent::Ready { init_ms } => {
            hand.init_ms = Some(init_ms);
            hand.begin(Step::Find);
            conductor.ready(worker, hand.pid(), events);
        }
        ToParent::Ask => {
            hand.begin(Step::Receive);
            let supplied = conductor.supply(Ask { channel: &mut hand.channel, deadline });
            return hand.reached(supplied).err();
        }
        ToParent::Step(step) => {
            hand.begin(step);
            events.event(&Event::Step { worker, step: step.to_string() });
            conductor.step(worker, step, events);
        }
        ToParent::Note(text) => events.event(&Event::Note { worker: Some(worker), text }),
        ToParent::Calls { part, last } => hand.calls.add(&part, last),
        ToParent::Done(done) => {
            hand.begin(Step::Exit);
            events.event(&Event::WorkerDone { worker, verified: done.verified });
            hand.done = Some(*done);
        }
        ToParent::Failed(complaint) => return Some(hand.complained(complaint)),
    }
    None
}
