//! Between host and device, from page-locked and from ordinary memory.

use std::time::Instant;

use peermap_driver::{ByteSize, Driver, PinnedBuffer};

use super::timed::TimedStream;
use crate::error::BenchError;
use crate::owned::Allocated;
use crate::rig::Rig;
use crate::suite::{Crossing, Group, Output, Planned};

const FULL: [ByteSize; 3] = [ByteSize::mib(1), ByteSize::mib(16), ByteSize::mib(256)];
const QUICK: [ByteSize; 2] = [ByteSize::mib(1), ByteSize::mib(64)];

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    rig.sizes(&FULL, &QUICK).into_iter().map(|size| group(rig, size)).collect()
}

fn group<'r>(rig: &'r Rig<'_>, size: ByteSize) -> Planned<'r> {
    Planned {
        outputs: ["pinned_to_device", "pinned_to_host", "pageable_to_device", "pageable_to_host"]
            .map(|name| Output::rate(name).of_peak(rig.peaks.host.as_ref(), Crossing::Once))
            .to_vec(),
        parameters: vec![("size", size.to_string())],
        make: Box::new(move || {
            rig.can_move(size)?;
            let length = size.to_usize().unwrap_or(0);
            let timed = TimedStream::new(rig.driver)?;
            let device = Allocated::new(rig.driver, size)?;
            let pinned = Some(PinnedBuffer::zeroed(rig.driver, length)?);
            Ok(Box::new(ToHost { driver: rig.driver, timed, device, pinned, pageable: vec![7; length] }))
        }),
    }
}

struct ToHost<'d> {
    driver: &'d dyn Driver,
    timed: TimedStream<'d>,
    device: Allocated<'d>,
    pinned: Option<PinnedBuffer<'d>>,
    pageable: Vec<u8>,
}

impl Group for ToHost<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { driver, timed, device, pinned, pageable } = self;
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown with three digits")]
        let bytes = pageable.len() as f64;
        let rate = |start: Instant| bytes / start.elapsed().as_secs_f64() / 1e9;
        let buffer = pinned.take().ok_or_else(|| BenchError::Run("the page-locked buffer is lost".to_owned()))?;
        let start = Instant::now();
        let buffer = buffer.copy_to(device.ptr, timed.stream)?.wait()?;
        let to_device = rate(start);
        let start = Instant::now();
        *pinned = Some(buffer.copy_from(device.ptr, timed.stream)?.wait()?);
        let to_host = rate(start);
        let start = Instant::now();
        driver.memcpy_htod(device.ptr, pageable)?;
        driver.ctx_synchronize()?;
        let pageable_to_device = rate(start);
        let start = Instant::now();
        driver.memcpy_dtoh(pageable, device.ptr)?;
        Ok(vec![to_device, to_host, pageable_to_device, rate(start)])
    }
}
