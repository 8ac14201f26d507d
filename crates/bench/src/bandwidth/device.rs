//! Fill, verify and copy on one device, by size and by how the memory was mapped.

use std::rc::Rc;

use peermap_driver::ByteSize;

use super::memory::MemoryKind;
use super::on_device::{DeviceWork, OnDevice};
use super::timed::TimedStream;
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const QUICK: [ByteSize; 3] = [ByteSize::mib(1), ByteSize::mib(64), ByteSize::mib(1024)];

/// From this size on a fill must come near a memset.
const FLOOR_FROM: ByteSize = ByteSize::mib(256);
const FLOOR: f64 = 0.94;

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let sizes = rig.sizes(&OnDevice::SIZES, &QUICK);
    sizes.into_iter().flat_map(|size| MemoryKind::ALL.map(|kind| group(rig, size, kind))).collect()
}

fn group<'r>(rig: &'r Rig<'_>, size: ByteSize, kind: MemoryKind) -> Planned<'r> {
    let output = |work: DeviceWork| match work {
        DeviceWork::Fill if size >= FLOOR_FROM && !rig.simulated => {
            Output::rate(work.name()).at_least(FLOOR, DeviceWork::Memset.name())
        }
        _ => Output::rate(work.name()),
    };
    Planned {
        outputs: DeviceWork::ALL.map(output).to_vec(),
        parameters: vec![("memory", kind.name().to_owned()), ("size", size.to_string())],
        make: Box::new(move || {
            let timed = Rc::new(TimedStream::new(rig.driver)?);
            Ok(Box::new(Rates { memory: OnDevice::new(rig, Rc::clone(&timed), size, kind)?, timed }))
        }),
    }
}

/// One rate for each kind of work.
struct Rates<'r, 'd> {
    memory: OnDevice<'r, 'd>,
    timed: Rc<TimedStream<'r>>,
}

impl Group for Rates<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { memory, timed } = self;
        let rate = |work| timed.rate(memory.bytes(), 1, &|| memory.queue_row(work));
        let rates = DeviceWork::ALL.into_iter().map(rate).collect::<Result<_, _>>()?;
        memory.check()?;
        Ok(rates)
    }
}
