//! Whether criterion's measurement and the suite of `peermap bench` come to the same where they measure the same.
//!
//! Prints a line for each kind of work and size with both times of a row of it, and ends with 1 if two are further apart than 5 %.
//! Below 16 MiB the host cannot start work as fast as the device does it: there both are times of the host, and are not judged.
//! Simulated devices do their work on this host, whose caches know what was done before. There, without `--bench`, or with `--test`,
//! it only tries every way once and judges nothing.

use std::process::ExitCode;
use std::time::Duration;

use criterion::measurement::Measurement;
use peermap_bench::{BenchError, DeviceWork, OnDevice};
use peermap_benches::claim::{Bound, Claim, Measured};
use peermap_benches::device::Lab;
use peermap_benches::timing::median;
use peermap_driver::ByteSize;

/// How far apart two may be.
const SHARE: f64 = 0.05;

/// From this size on the device takes longer for a piece of work than the host for starting it.
const OF_THE_DEVICE: ByteSize = ByteSize::mib(16);

/// How often each way gets its turn.
const TURNS: usize = 31;

/// Rows in a row: criterion does one kind of work over and over, the suite one after the other.
const ROWS: usize = 5;

fn main() -> ExitCode {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    let lab = Lab::open();
    let judged = given("--bench") && !given("--test") && !lab.is_simulated();
    let mut missed = false;
    for size in OnDevice::SIZES {
        match compare(&lab, size, if judged { TURNS } else { 1 }) {
            Ok(claims) => {
                let judged = judged && size >= OF_THE_DEVICE;
                claims.iter().for_each(|claim| println!("{}", claim.line(judged)));
                missed |= judged && !claims.iter().all(Claim::holds);
            }
            Err(error) => println!("{size} is skipped: {error}"),
        }
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Both ways in turns, each with memory of its own.
fn compare(lab: &Lab, size: ByteSize, turns: usize) -> Result<Vec<Claim>, BenchError> {
    let (memory, mut suite, clock) = (lab.memory(size)?, lab.suite(size)?, lab.clock());
    let mut ours = DeviceWork::ALL.map(|_| Vec::new());
    let mut others = DeviceWork::ALL.map(|_| Vec::new());
    for _ in 0..turns {
        for (times, rate) in others.iter_mut().zip(suite.sample()?) {
            times.push(nanoseconds(memory.bytes() as f64 / rate));
        }
        for (times, work) in ours.iter_mut().zip(DeviceWork::ALL) {
            for _ in 0..ROWS {
                memory.queue(work)?;
                clock.start();
                memory.queue_row(work)?;
                times.push(nanoseconds(clock.to_f64(&clock.end(()))));
            }
        }
    }
    memory.check()?;
    let both = DeviceWork::ALL.into_iter().zip(ours.into_iter().zip(others));
    Ok(both.map(|(work, (ours, other))| claim(work, size, median(ours), median(other))).collect())
}

fn nanoseconds(time: f64) -> Duration {
    Duration::from_secs_f64(time / 1e9)
}

fn claim(work: DeviceWork, size: ByteSize, ours: Duration, other: Duration) -> Claim {
    Claim {
        words: format!("{} of {size}, criterion's clock against the suite", work.name()),
        measured: Measured::Ratio { ours, other },
        bound: Bound::RatioWithin(SHARE),
    }
}
