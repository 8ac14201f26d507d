//! Between devices: one way, the other way, and both at once.

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, Driver};

use super::timed::TimedStream;
use crate::error::BenchError;
use crate::owned::{Mapped, Physical};
use crate::rig::Rig;
use crate::suite::{Crossing, Group, Output, Planned};

const FULL: [ByteSize; 4] = [ByteSize::mib(1), ByteSize::mib(16), ByteSize::mib(256), ByteSize::mib(1024)];
const QUICK: [ByteSize; 2] = [ByteSize::mib(16), ByteSize::mib(256)];

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let all = 0..rig.devices.len();
    let pairs: Vec<(usize, usize)> =
        all.clone().flat_map(|one| all.clone().filter(move |two| one < *two).map(move |two| (one, two))).collect();
    let sizes = rig.sizes(&FULL, &QUICK);
    sizes
        .into_iter()
        .flat_map(|size| pairs.iter().map(move |pair| group(rig, size, *pair)).collect::<Vec<_>>())
        .collect()
}

fn group<'r>(rig: &'r Rig<'_>, size: ByteSize, (from, to): (usize, usize)) -> Planned<'r> {
    Planned {
        outputs: [("copy_to", Crossing::Once), ("copy_back", Crossing::Once), ("copy_both_ways", Crossing::BothWays)]
            .map(|(name, crossing)| Output::rate(name).of_peak(rig.peaks.peers.as_ref(), crossing))
            .to_vec(),
        parameters: vec![("from", from.to_string()), ("to", to.to_string()), ("size", size.to_string())],
        make: Box::new(move || {
            rig.can_move(size)?;
            let driver = rig.driver;
            let (one, two) = (rig.devices[from].0, rig.devices[to].0);
            if !driver.device_can_access_peer(one, two)? || !driver.device_can_access_peer(two, one)? {
                return Err(BenchError::NotHere(format!("devices {from} and {to} do not reach each other")));
            }
            let whole = size.checked_next_multiple_of(rig.granularity()?).unwrap_or(size);
            let rights = [one, two].map(|device| AccessDesc::read_write(device.0));
            let memory = |index| Mapped::new(driver, Physical::create(driver, whole, &rig.memory_of(index))?, &rights);
            let (a, b, c, d) = (memory(from)?, memory(to)?, memory(from)?, memory(to)?);
            rig.work_on(to)?;
            let other = TimedStream::new(driver)?;
            rig.work_on(from)?;
            Ok(Box::new(Pair {
                driver,
                size,
                times: rig.repetitions(size.get()),
                there: TimedStream::new(driver)?,
                other,
                memory: [a, b, c, d],
            }))
        }),
    }
}

struct Pair<'d> {
    driver: &'d dyn Driver,
    size: ByteSize,
    times: u32,
    /// On the first device.
    there: TimedStream<'d>,
    /// On the second.
    other: TimedStream<'d>,
    memory: [Mapped<'d>; 4],
}

impl Group for Pair<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { driver, size, times, there, other, memory } = self;
        let [a, b, c, d] = memory.each_ref().map(|mapped| mapped.range.ptr);
        let (driver, size, times) = (*driver, *size, *times);
        let copy = |timed: &TimedStream<'_>, dst: DevicePtr, src: DevicePtr| {
            timed.rate(size.get(), times, &|| driver.memcpy_dtod_async(dst, src, size, timed.stream))
        };
        let to = copy(there, b, a)?;
        let back = copy(there, a, b)?;
        let both = there.rate_with(&[other], 2 * size.get() * u64::from(times), &|| {
            (0..times).try_for_each(|_| {
                driver.memcpy_dtod_async(b, a, size, there.stream)?;
                driver.memcpy_dtod_async(c, d, size, other.stream)
            })
        })?;
        Ok(vec![to, back, both])
    }
}
