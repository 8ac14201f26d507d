//! Repeated measurements of a worker on its own buffer, after the verified part of a run.
//!
//! One worker measures at a time: where buffers lie on one device, a worker beside it would take part of its bandwidth.

use peermap_driver::Result;
use peermap_report::{Rates, gigabytes_per_second};

use crate::content::Author;
use crate::device_kernels::Buffer;
use crate::messages::Step;
use crate::timing::median;
use crate::transport::Meet;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// Rounds that do not count: the first one loads kernels and wakes the device.
const WARM_UP: usize = 2;
const ROUNDS: usize = 10;

/// Measures in turn with all others.
pub(super) fn rates(
    station: &mut Station<'_>,
    all: &mut dyn Meet,
    workplace: &Workplace<'_>,
    buffer: Buffer,
) -> std::result::Result<Rates, WorkerError> {
    // From here on buffers are written again, so everybody must have verified.
    station.meet(all, Step::Verified)?;
    let mut rates = Rates { fill_gb_s: 0.0, verify_gb_s: 0.0, memset_gb_s: 0.0 };
    for turn in 0..station.workers {
        if turn == station.worker {
            rates = measure(station, workplace, buffer)?;
        }
        station.meet(all, Step::Measure)?;
    }
    Ok(rates)
}

/// Memset, fill and verify by turns, so that a change of clocks meets all three alike.
fn measure(station: &Station<'_>, workplace: &Workplace<'_>, buffer: Buffer) -> Result<Rates> {
    let Workplace { stream, kernels, timer, .. } = workplace;
    let author = Author { worker: station.worker, step: station.workers };
    let driver = station.driver;
    let timed = |work: &dyn Fn() -> Result<()>| {
        timer.around(work)?;
        driver.stream_synchronize(*stream)?;
        timer.milliseconds()
    };
    let mut times = [const { Vec::new() }; 3];
    for round in 0..WARM_UP + ROUNDS {
        let memset = timed(&|| driver.memset_d8_async(buffer.ptr, author.id(), buffer.size, *stream))?;
        let fill = timed(&|| kernels.fill(buffer, author))?;
        kernels.clear_findings()?;
        let verify = timed(&|| kernels.verify(buffer, author))?;
        if round >= WARM_UP {
            for (times, time) in times.iter_mut().zip([fill, verify, memset]) {
                times.push(time);
            }
        }
    }
    let rate = |times| median(times).and_then(|time| gigabytes_per_second(buffer.size.get(), time)).unwrap_or(0.0);
    let [fill_gb_s, verify_gb_s, memset_gb_s] = times.map(rate);
    Ok(Rates { fill_gb_s, verify_gb_s, memset_gb_s })
}
