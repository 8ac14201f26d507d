//! The parent's story.

use std::cell::{OnceCell, RefCell};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use peermap_driver::{Driver, DriverError};
use peermap_ipc::{Barrier, Deadline};
use peermap_report::calls::ProcessCalls;
use peermap_report::{Account, Event, EventSink, Reference, RejectedDevice, Rejection, RunReport};

use super::handover::Handover;
use super::plan::End;
use super::{Plan, SizeError, Story, SupplyError};
use crate::backend::{Backend, BackendError};
use crate::calls::{CallRecorder, Recorded};
use crate::crew::{Crew, Hand};
use crate::devices::{MAX_DEVICES, SelectError, Selection, Terms, select};
use crate::error::{RunError, UsageError};
use crate::kernels::{KernelSource, locate};
use crate::launch::{Launcher, Tuning, allow_descriptors, descriptor_batch};
use crate::lookout::with_lookout;
use crate::options::Options;
use crate::probe::Prober;
use crate::scenario::Scenario;
use crate::timing::ms_since;
use crate::watched::{Watched, watched};

/// How long a child may take from its start until it executes.
const FORK_TIME: Duration = Duration::from_secs(2);

/// How long the machine of a run that failed may take to tell of its memory.
const END_TIME: Duration = Duration::from_secs(1);

/// How long until one looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Runs a scenario.
///
/// Call it from the main thread: workers die with the thread that started them.
///
/// # Errors
/// A [`RunError`] is what went wrong before the workers got their work: options, limits, devices, memory. Whatever goes
/// wrong after that is the [`failure`](RunReport::failure) of the report, which lists the workers all the same. Either way
/// all workers have ended when this returns.
pub fn run(
    scenario: &Scenario,
    backend: &dyn Backend,
    launcher: &Launcher,
    events: &mut dyn EventSink,
) -> Result<RunReport, RunError> {
    begin(scenario, backend, launcher, events, None)
}

/// The same, and adds the driver calls of the parent and of each worker to `calls`, whether the run succeeds or not.
///
/// Processes that only measure initialisation, and those that turn out not to be needed, are not among them.
///
/// # Errors
/// As [`run`].
pub fn run_recording_calls(
    scenario: &Scenario,
    backend: &dyn Backend,
    launcher: &Launcher,
    events: &mut dyn EventSink,
    calls: &mut Vec<ProcessCalls>,
) -> Result<RunReport, RunError> {
    begin(scenario, backend, launcher, events, Some(calls))
}

fn begin(
    scenario: &Scenario,
    backend: &dyn Backend,
    launcher: &Launcher,
    events: &mut dyn EventSink,
    calls: Option<&mut Vec<ProcessCalls>>,
) -> Result<RunReport, RunError> {
    let story = scenario.story();
    let options = story.options();
    options.check()?;
    story.check()?;
    let kernels = locate(options.kernels.as_deref(), &launcher.exe)?;
    events.event(&Event::RunStarted {
        scenario: story.name().to_owned(),
        backend: backend.name().to_owned(),
        profile: backend.profile().map(str::to_owned),
    });
    let (record_calls, driver, workers_calls) = (calls.is_some(), OnceCell::new(), RefCell::default());
    let run = Run { story, options, backend, launcher, kernels, record_calls, driver, workers_calls };
    let report = run.all(events).map_err(|error| run.cause(error));
    if let Some(calls) = calls {
        calls.extend(run.parent_calls());
        calls.append(&mut run.workers_calls.borrow_mut());
    }
    let report = report?;
    events.event(&Event::Finished { ok: report.ok, wall_ms: report.wall_ms });
    Ok(report)
}

struct Run<'a> {
    story: &'a dyn Story,
    /// What is asked of every scenario.
    options: &'a Options,
    backend: &'a dyn Backend,
    launcher: &'a Launcher,
    kernels: KernelSource,
    record_calls: bool,
    /// Opened at the first use, after the workers were started.
    driver: OnceCell<Recorded<Arc<dyn Driver>>>,
    /// The driver calls of workers that have ended, if they are recorded.
    workers_calls: RefCell<Vec<ProcessCalls>>,
}

impl Run<'_> {
    /// The run, and what is measured around it.
    fn all(&self, events: &mut dyn EventSink) -> Result<RunReport, RunError> {
        let Self { options, backend, launcher, .. } = self;
        let probed = options.measure.then(|| {
            let prober = Prober { backend: *backend, launcher, deadline: Deadline::after(options.timeout) };
            let probed = prober.time()?;
            prober.wake().map(|()| probed)
        });
        let probed = probed.transpose()?;
        let mut report = self.once(false, events)?;
        if let Some(probed) = probed.filter(|_| report.ok) {
            report.reference = Some(Reference::new(probed.init_ms, probed.context_ms, report.wall_ms));
            self.measure(&mut report, events)?;
        }
        Ok(report)
    }

    /// What a failure follows from: without its machine no driver works, and whichever call notices that first says little.
    fn cause(&self, error: RunError) -> RunError {
        let end = error.may_follow().then(|| self.backend.end_of_machine()).flatten();
        end.map_or(error, RunError::MachineDied)
    }

    /// What there is to tell of memory, and was not told before.
    fn memory_since(&self, before: Option<&Account>, deadline: Deadline) -> Option<Account> {
        Some(self.backend.account(deadline)?.since(before?))
    }

    /// What a run that went well left, if it left anything.
    fn memory_left(&self, before: Option<&Account>) -> Option<Account> {
        let until = Deadline::after(FORK_TIME);
        loop {
            let left = self.memory_since(before, Deadline::after(FORK_TIME)).filter(|account| !account.is_clean())?;
            // What a call did or a process left stays. What is held may be so by a child that another thread is just starting: it
            // has copies of all descriptors until it executes.
            if left.all_left + left.all_misuses > 0 || until.has_passed() {
                return Some(left);
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// The run itself. `measure` has the workers measure after they have verified.
    fn once(&self, measure: bool, events: &mut dyn EventSink) -> Result<RunReport, RunError> {
        let Self { story, options, backend, kernels, .. } = self;
        let deadline = Deadline::after(options.timeout);
        let before = self.backend.account(deadline);
        let begun = Instant::now();

        // Workers first, so that they initialise their drivers while this process initialises its own.
        let mut crew = Crew::new(backend.lifeline());
        self.employ(&mut crew, self.first_workers()?, None)?;

        let driver = watched(self.driver()?);
        let Selection { chosen, rejected } = choose(&driver, *story)?;
        announce(&rejected, events);
        let workers = story.workers(chosen.len())?;
        let plan = Plan::new(options, chosen, rejected, workers)?;
        let checked = story.check_size(&driver, &plan, backend.memory_limit());
        checked.map_err(|error| size_error(&driver, error))?;
        self.employ(&mut crew, workers, Some(&plan))?;

        let barrier = Barrier::create(story.name(), workers).map_err(|source| RunError::Barrier { source })?;
        let role = story.role(plan.task(options, kernels, measure), &plan);
        let order = |worker| plan.order(worker, role.clone(), self.record_calls, deadline);
        // Before the memory: workers make their contexts while this process makes its own and allocates. A crowd of them would
        // leave it no core to do that.
        let is_crowd = workers > crowd();
        if !is_crowd {
            crew.order(&order, Some(barrier.as_fd()), deadline)?;
        }
        let looking = with_lookout(&driver, crew.hands().iter().map(Hand::pid).collect());
        let (outcome, held, remarks) = match story.supply(&looking, &plan) {
            Ok(mut supplies) => {
                looking.interceptor().end();
                if is_crowd {
                    crew.order(&order, Some(barrier.as_fd()), deadline)?;
                }
                let remarks = supplies.remarks();
                remarks.iter().for_each(|text| events.event(&Event::Remark { text: text.clone() }));

                // Every worker that asks gets all descriptors; from then on this process only watches.
                let steps = story.steps(workers);
                let mut handover = Handover::new(&plan, steps, &mut *supplies, barrier, descriptor_batch()?);
                let conducted = crew.conduct(&mut handover, events, deadline);
                let outcome = conducted.and_then(|()| first_mismatch(crew.hands())).map_err(|error| self.cause(error));
                // Before this process gives back its own: what it holds, and what the dead had, is what one wants to see.
                let held =
                    outcome.is_err().then(|| self.memory_since(before.as_ref(), Deadline::after(END_TIME))).flatten();
                let released = handover.finish().map_err(|source| self.cause(in_parent(&driver, "release", source)));
                (outcome.and(released), held, remarks)
            }
            Err(error) => {
                let death = crew.death(events).ok_or_else(|| supply_error(&driver, error))?;
                (Err(self.cause(death)), self.memory_since(before.as_ref(), Deadline::after(END_TIME)), Vec::new())
            }
        };
        let wall_ms = ms_since(begun);
        // Only now that the time of the run is taken.
        let left = outcome.is_ok().then(|| self.memory_left(before.as_ref())).flatten();
        let outcome = outcome.and_then(|()| left.as_ref().map_or(Ok(()), |left| Err(memory_error(left, crew.hands()))));
        let end = End { hands: crew.hands(), failure: outcome.err(), memory: held.or(left), wall_ms, remarks };
        if self.record_calls {
            self.workers_calls.borrow_mut().extend(plan.calls(crew.hands(), measure));
        }
        Ok(plan.report(*story, *backend, kernels, end))
    }

    /// A second run whose workers measure, so that measuring does not falsify the first.
    fn measure(&self, report: &mut RunReport, events: &mut dyn EventSink) -> Result<(), RunError> {
        let again = self.once(true, events)?;
        for (worker, measured) in report.workers.iter_mut().zip(again.workers) {
            worker.measured = measured.measured;
        }
        report.ok = again.ok;
        report.failure = again.failure;
        Ok(())
    }

    /// How many devices will take part, as far as one can know before anything is initialised.
    fn expected_devices(&self) -> usize {
        match &self.options.devices {
            Some(devices) => devices.len(),
            None => self.backend.expected_devices().min(MAX_DEVICES),
        }
    }

    /// How many workers are started before the devices are chosen.
    fn first_workers(&self) -> Result<u32, UsageError> {
        // Which node a worker is on is known with its device.
        if self.story.spans_nodes() {
            return Ok(0);
        }
        let expected = self.story.workers(self.expected_devices())?;
        // Their ids may be too many, and whether they are is known for sure only with the devices.
        Ok(self.options.fill_of(expected).map_or(0, |_| expected))
    }

    /// Starts workers, or dismisses some, until there are `count`.
    fn employ(&self, crew: &mut Crew, count: u32, plan: Option<&Plan>) -> Result<(), RunError> {
        allow_descriptors(count)?;
        let device = |worker| plan.filter(|_| self.story.spans_nodes()).map(|plan| plan.device_of(worker).uuid);
        crew.resize(count, self.backend, self.launcher, Tuning::OfBackend, &device)
    }

    /// The driver of this process, initialised.
    fn driver(&self) -> Result<&dyn Driver, RunError> {
        if let Some(driver) = self.driver.get() {
            return Ok(driver);
        }
        let driver: Arc<dyn Driver> = self.backend.driver()?.into();
        // A driver that does not start is kept too: the run ends then, and its only call is what one wants to see.
        let driver = self.driver.get_or_init(|| Recorded::new(driver, CallRecorder::new(self.record_calls)));
        driver.init(0).map_err(|source| BackendError::init(self.backend.name(), source))?;
        Ok(driver)
    }

    /// The calls of this process, if it came to make any.
    fn parent_calls(&self) -> Option<ProcessCalls> {
        let calls = self.driver.get()?.interceptor().records();
        Some(ProcessCalls { pid: std::process::id(), name: "parent".to_owned(), calls, lost: None })
    }
}

/// How many workers this host runs at a time without its parent being held up.
fn crowd() -> u32 {
    const FOR_EACH_CORE: u32 = 8;
    let cores = thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
    cores.saturating_mul(FOR_EACH_CORE)
}

fn choose(driver: &Watched<'_>, story: &dyn Story) -> Result<Selection, RunError> {
    let options = story.options();
    let trial = |device| story.try_device(driver, device);
    let terms = Terms { needs: story.needs(), peers: !story.spans_nodes(), trial: &trial };
    select(driver, options.devices.as_deref(), &terms, options.enable_peers).map_err(|error| match error {
        SelectError::Usage(usage) => usage.into(),
        SelectError::NoneUsable { rejected } => RunError::NoUsableDevice { rejected },
        SelectError::Driver(source) => in_parent(driver, "choose devices", source),
    })
}

fn announce(rejected: &[RejectedDevice], events: &mut dyn EventSink) {
    for Rejection { devices, reason } in Rejection::fold(rejected) {
        events.event(&Event::DevicesRejected { devices, reason });
    }
}

fn size_error(driver: &Watched<'_>, error: SizeError) -> RunError {
    match error {
        SizeError::Usage(usage) => usage.into(),
        SizeError::Driver(source) => in_parent(driver, "check the size", source),
    }
}

fn supply_error(driver: &Watched<'_>, error: SupplyError) -> RunError {
    match error {
        SupplyError::Driver(source) => in_parent(driver, "allocate and export", source),
        SupplyError::SharedMemory(source) => RunError::SharedMemory { source },
    }
}

fn memory_error(account: &Account, hands: &[Hand]) -> RunError {
    let pid = account.left.first().and_then(|left| left.pid);
    let worker = hands.iter().find(|hand| Some(hand.pid()) == pid).map(Hand::worker);
    let mut lines = account.lines(true).into_iter();
    let (first, more) = (lines.next().unwrap_or_default(), lines.len());
    RunError::Memory { worker, pid, what: if more > 0 { format!("{first} (and {more} more)") } else { first } }
}

fn in_parent(driver: &Watched<'_>, step: &'static str, source: DriverError) -> RunError {
    RunError::Driver { step, call: driver.interceptor().call_of(&source), source }
}

/// The mismatch of the lowest worker that found one.
fn first_mismatch(hands: &[Hand]) -> Result<(), RunError> {
    let found = hands.iter().find_map(|hand| Some((hand.done()?.mismatch?, hand.pid())));
    found.map_or(Ok(()), |(mismatch, pid)| Err(RunError::Mismatch { mismatch, pid }))
}
