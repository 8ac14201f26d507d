//! All devices at once: each copies to the next one, and each to all others.

use peermap_driver::{AccessDesc, ByteSize};

use super::timed::TimedStream;
use crate::error::BenchError;
use crate::owned::{Mapped, Physical};
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const FULL: [ByteSize; 2] = [ByteSize::mib(16), ByteSize::mib(256)];
const QUICK: [ByteSize; 1] = [ByteSize::mib(16)];

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    rig.sizes(&FULL, &QUICK).into_iter().map(|size| group(rig, size)).collect()
}

fn group<'r>(rig: &'r Rig<'_>, size: ByteSize) -> Planned<'r> {
    let devices = rig.devices.len();
    Planned {
        outputs: ["copy_ring_at_once", "copy_all_pairs_at_once"].map(Output::rate).to_vec(),
        parameters: vec![("devices", devices.to_string()), ("size", size.to_string())],
        make: Box::new(move || {
            if devices < 2 {
                return Err(BenchError::NotHere("there is one device".to_owned()));
            }
            rig.can_move(size)?;
            let lanes = (0..devices).map(|from| Lane::new(rig, from, size)).collect::<Result<Vec<_>, _>>()?;
            rig.work_on(0)?;
            Ok(Box::new(AllAtOnce { rig, size, lanes }))
        }),
    }
}

/// A device that copies to others: a stream, what it copies, and a place on each of the others.
struct Lane<'r> {
    timed: TimedStream<'r>,
    source: Mapped<'r>,
    /// The next device first.
    targets: Vec<Mapped<'r>>,
}

impl<'r> Lane<'r> {
    fn new(rig: &'r Rig<'_>, from: usize, size: ByteSize) -> Result<Self, BenchError> {
        let (driver, devices) = (rig.driver, rig.devices.len());
        let own = rig.devices[from].0;
        let whole = size.checked_next_multiple_of(rig.granularity()?).unwrap_or(size);
        // The driver wants the device of the current context to have rights too, whichever context the stream is of.
        let rights: Vec<AccessDesc> = rig.devices.iter().map(|(device, _)| AccessDesc::read_write(device.0)).collect();
        let mut targets = Vec::new();
        for to in (1..devices).map(|step| (from + step) % devices) {
            let there = rig.devices[to].0;
            if !driver.device_can_access_peer(own, there)? {
                return Err(BenchError::NotHere(format!("device {from} does not reach device {to}")));
            }
            targets.push(Mapped::new(driver, Physical::create(driver, whole, &rig.memory_of(to))?, &rights)?);
        }
        let source = Physical::create(driver, whole, &rig.memory_of(from))?;
        let source = Mapped::new(driver, source, &rights)?;
        rig.work_on(from)?;
        Ok(Self { timed: TimedStream::new(driver)?, source, targets })
    }
}

struct AllAtOnce<'r, 'd> {
    rig: &'r Rig<'d>,
    size: ByteSize,
    lanes: Vec<Lane<'r>>,
}

impl AllAtOnce<'_, '_> {
    /// The rate of all copies together, when every device copies to so many others.
    fn rate(&self, targets: usize) -> Result<f64, BenchError> {
        let driver = self.rig.driver;
        let [first, others @ ..] = self.lanes.as_slice() else { return Ok(f64::NAN) };
        let others: Vec<&TimedStream<'_>> = others.iter().map(|lane| &lane.timed).collect();
        let bytes = self.size.get() * (self.lanes.len() * targets) as u64;
        let times = self.rig.repetitions(bytes);
        first.timed.rate_with(&others, bytes * u64::from(times), &|| {
            let lanes = (0..times).flat_map(|_| &self.lanes);
            let mut pairs = lanes.flat_map(|lane| lane.targets.iter().take(targets).map(move |target| (lane, target)));
            pairs.try_for_each(|(lane, target)| {
                let (to, from) = (target.range.ptr, lane.source.range.ptr);
                driver.memcpy_dtod_async(to, from, self.size, lane.timed.stream)
            })
        })
    }
}

impl Group for AllAtOnce<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        Ok(vec![self.rate(1)?, self.rate(self.lanes.len() - 1)?])
    }
}
