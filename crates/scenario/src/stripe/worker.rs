//! The worker's story.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::Instant;

use peermap_driver::{ByteSize, Context, Device, DeviceAttribute, Intercepted, Stream, Uuid};
use peermap_ipc::Member;
use peermap_report::Striped;
use serde::{Deserialize, Serialize};

use super::Balance;
use super::adder::{Adder, Wrong};
use super::board::Board;
use super::layout::Layout;
use super::share::{even, piece, shares, weights};
use super::vectors::Vectors;
use crate::devices::find_device;
use crate::kernels::STRIPE;
use crate::messages::{Done, Step};
use crate::overseer::{Overseen, Overseer};
use crate::post::Delivery;
use crate::task;
use crate::timing::{median, ms_since};
use crate::worker::{Station, WorkerError};
use crate::workplace::{NON_BLOCKING, load};

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    /// The size of a stripe.
    pub(crate) stripe: ByteSize,
    /// How many a vector has.
    pub(crate) stripes: u32,
    pub(crate) balance: Balance,
    /// The devices by the number of their worker.
    pub(crate) devices: Vec<Uuid>,
}

/// Rounds in which a device's bandwidth is measured; one more before them does not count.
const ROUNDS: usize = 3;
/// What adding a word moves.
const BYTES_OF_A_WORD: u64 = 3 * 8;

/// Does the work of one worker. The first descriptor that the parent delivers is that of the board; those of the stripes follow.
pub(crate) fn work(
    station: &mut Station<'_>,
    mut member: Member,
    delivery: Delivery<'_>,
    task: &Task,
) -> Result<Done, WorkerError> {
    let layout = Layout { stripe: task.stripe, stripes: task.stripes, devices: station.workers };
    let (life, descriptors) = Life::set_up(station, task, layout, delivery)?;
    life.found(station, &descriptors)?;
    station.meet(&mut member, Step::Barrier(0))?;
    let copies = life.join(station, &descriptors)?;
    drop(descriptors);
    station.meet(&mut member, Step::Barrier(1))?;
    life.check_places(station, &task.devices)?;
    let words = life.share(station, &mut member, task.balance)?;
    station.meet(&mut member, Step::Assemble)?;
    let (added, finish_ms) = life.add(station, words)?;
    station.meet(&mut member, Step::Barrier(2))?;
    let verified = life.verify(station, task)?;
    station.meet(&mut member, Step::Verified)?;
    life.end(station)?;
    let told = Striped {
        part_percent: 100.0 * added as f64 / layout.words() as f64,
        finish_ms,
        stripes_here: layout.on(station.worker),
        stripes: layout.stripes,
        copies,
    };
    let phases = std::mem::take(&mut station.phases);
    Ok(Done { phases, verified, striped: Some(told), ..Done::default() })
}

/// The words that a worker adds.
enum Words {
    /// These.
    Share(Range<u64>),
    /// Whatever the counter gives.
    Pieces,
}

/// What a worker has.
struct Life<'d> {
    layout: Layout,
    board: Board,
    context: Context,
    stream: Stream,
    adder: Adder<'d>,
    vectors: Vectors<'d>,
}

impl<'d> Life<'d> {
    /// Gives the descriptors of the stripes too.
    fn set_up(
        station: &mut Station<'d>,
        task: &Task,
        layout: Layout,
        delivery: Delivery<'_>,
    ) -> Result<(Self, Vec<OwnedFd>), WorkerError> {
        let driver = station.driver;
        station.begin(Step::Context)?;
        let (context, stream) = station.phase("context", |station| {
            Ok((driver.ctx_create(0, station.device)?, driver.stream_create(NON_BLOCKING)?))
        })?;
        station.begin(Step::Module)?;
        let adder = station.phase("module", |station| {
            load(station, &task.work, &STRIPE, |image, options| Adder::load(driver, stream, image, options))
        })?;
        station.begin(Step::Reserve)?;
        let vectors = station.phase("map", |_| Ok(Vectors::reserve(driver, layout)?))?;
        let mut descriptors = delivery.receive()?.descriptors.into_iter();
        let board = Board::open(descriptors.next().ok_or(WorkerError::NoHandles)?, station.workers)?;
        Ok((Self { layout, board, context, stream, adder, vectors }, descriptors.collect()))
    }

    /// Whether this worker's device is there from the start.
    fn is_founder(&self, station: &Station<'_>) -> bool {
        station.worker < self.layout.founders()
    }

    /// Maps what is there before the last device joins, and writes a part of it.
    fn found(&self, station: &mut Station<'_>, descriptors: &[OwnedFd]) -> Result<(), WorkerError> {
        if !self.is_founder(station) {
            return Ok(());
        }
        let (driver, founded) = (station.driver, 0..self.layout.founded());
        station.begin(Step::Import)?;
        station.phase("map", |station| {
            self.vectors.map(driver, founded.clone(), descriptors)?;
            Ok(self.vectors.let_in(driver, station.device, founded)?)
        })?;
        station.begin(Step::Fill(0))?;
        let part = even(self.layout.founders(), self.layout.founded_words())[station.worker as usize].clone();
        Ok(self.adder.prepare(self.vectors.start, part)?)
    }

    /// The last device joins, and stripes behind those that are there: all that is there stays where it is. Gives how many driver
    /// calls of that moved bytes.
    fn join(&self, station: &mut Station<'_>, descriptors: &[OwnedFd]) -> Result<u64, WorkerError> {
        let overseen: Overseen<'_> = Intercepted::new(station.driver, Overseer::default());
        let first = if self.is_founder(station) { self.layout.founded() } else { 0 };
        station.begin(Step::Enter)?;
        station.phase("join", |station| {
            self.vectors.map(&overseen, first..self.layout.stripes, descriptors)?;
            Ok(self.vectors.let_in(&overseen, station.device, first..self.layout.stripes)?)
        })?;
        let copies = overseen.interceptor().copies();
        if copies > 0 {
            return Err(WorkerError::Copied { copies });
        }
        let founded = self.layout.founded_words();
        expect_right("what was there before", self.adder.verify_prepared(self.vectors.start, 0..founded)?)?;
        station.begin(Step::Fill(1))?;
        let part = &even(station.workers, self.layout.words() - founded)[station.worker as usize];
        self.adder.prepare(self.vectors.start, founded + part.start..founded + part.end)?;
        Ok(copies)
    }

    /// Asks the driver where each stripe lies.
    fn check_places(&self, station: &Station<'_>, devices: &[Uuid]) -> Result<(), WorkerError> {
        let find = |uuid: &Uuid| find_device(station.driver, *uuid)?.ok_or(WorkerError::NoDevice { uuid: *uuid });
        let devices = devices.iter().map(find).collect::<Result<Vec<Device>, WorkerError>>()?;
        match self.vectors.misplaced(&devices)? {
            None => Ok(()),
            Some((stripe, wanted, location)) => Err(WorkerError::Misplaced { stripe, wanted, location }),
        }
    }

    /// Decides what this worker adds.
    fn share(&self, station: &mut Station<'_>, member: &mut Member, balance: Balance) -> Result<Words, WorkerError> {
        let (worker, workers, words) = (station.worker, station.workers, self.layout.words());
        Ok(match balance {
            Balance::Even => Words::Share(even(workers, words).swap_remove(worker as usize)),
            Balance::Dynamic => Words::Pieces,
            Balance::ByDevice => {
                // One at a time: a device beside it would take part of its bandwidth.
                for turn in 0..workers {
                    if turn == worker {
                        self.board.tell(worker, self.measure(station)?);
                    }
                    station.meet(member, Step::Measure)?;
                }
                let weights = weights(&self.board.told(workers));
                Words::Share(shares(&weights, words).swap_remove(worker as usize))
            }
        })
    }

    /// What the device can: multiprocessors times clock, and the rate at which it adds.
    fn measure(&self, station: &Station<'_>) -> Result<(f64, f64), WorkerError> {
        let number = |attribute| station.driver.device_get_attribute(attribute, station.device).map(f64::from);
        let computes = number(DeviceAttribute::MULTIPROCESSOR_COUNT)? * number(DeviceAttribute::CLOCK_RATE)?;
        let sample = piece(0, station.workers, self.layout.words());
        let bytes = (sample.end - sample.start) * BYTES_OF_A_WORD;
        let mut rates = Vec::with_capacity(ROUNDS);
        for round in 0..=ROUNDS {
            let begun = Instant::now();
            self.adder.add(self.vectors.start, sample.clone())?;
            if round > 0 {
                rates.push(bytes as f64 / ms_since(begun));
            }
        }
        Ok((computes, median(rates).unwrap_or(0.0)))
    }

    /// Adds its words. Gives how many there were, and how long that took.
    fn add(&self, station: &mut Station<'_>, words: Words) -> Result<(u64, f64), WorkerError> {
        station.begin(Step::Add)?;
        let begun = Instant::now();
        let mut added = 0;
        let mut add = |words: Range<u64>| {
            added += words.end - words.start;
            self.adder.add(self.vectors.start, words)
        };
        match words {
            Words::Share(words) => add(words)?,
            Words::Pieces => {
                let next = || piece(self.board.next_piece(), station.workers, self.layout.words());
                std::iter::repeat_with(next).take_while(|words| !words.is_empty()).try_for_each(add)?;
            }
        }
        let finish_ms = ms_since(begun);
        station.phases.add("add", finish_ms);
        Ok((added, finish_ms))
    }

    /// Verifies its part of the sum, whoever added that. Gives how many bytes are right.
    fn verify(&self, station: &mut Station<'_>, task: &Task) -> Result<u64, WorkerError> {
        station.begin(Step::Verify(station.worker))?;
        let part = even(station.workers, self.layout.words()).swap_remove(station.worker as usize);
        let bytes = 8 * (part.end - part.start);
        station.phase("verify", |_| {
            expect_right("the sum", self.adder.verify_sum(task.work.verify_on, self.vectors.start, part)?)
        })?;
        Ok(bytes)
    }

    fn end(self, station: &mut Station<'_>) -> Result<(), WorkerError> {
        let driver = station.driver;
        station.begin(Step::Teardown)?;
        station.phase("teardown", |_| {
            self.vectors.give_back()?;
            self.adder.unload()?;
            driver.stream_destroy(self.stream)?;
            Ok(driver.ctx_destroy(self.context)?)
        })
    }
}

fn expect_right(what: &'static str, wrong: Option<Wrong>) -> Result<(), WorkerError> {
    match wrong {
        None => Ok(()),
        Some(Wrong { words, first }) => Err(WorkerError::WrongWords { what, words, first }),
    }
}
