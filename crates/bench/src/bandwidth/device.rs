//! Fill, verify and copy by one device, in its own memory and in that of a peer, by size and by how the memory was mapped.

use std::rc::Rc;

use peermap_driver::ByteSize;

use super::memory::MemoryKind;
use super::on_device::{DeviceWork, OnDevice};
use super::timed::TimedStream;
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Crossing, Group, Output, Planned};

const QUICK: [ByteSize; 3] = [ByteSize::mib(1), ByteSize::mib(64), ByteSize::mib(1024)];

const PEER_FULL: [ByteSize; 3] = [ByteSize::mib(1), ByteSize::mib(64), ByteSize::mib(1024)];
const PEER_QUICK: [ByteSize; 1] = [ByteSize::mib(64)];

/// From this size on a fill must come near a memset.
const FLOOR_FROM: ByteSize = ByteSize::mib(256);
const FLOOR: f64 = 0.94;

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let own = rig.sizes(&OnDevice::SIZES, &QUICK).into_iter().flat_map(|size| MemoryKind::ALL.map(|kind| (size, kind)));
    let kinds = [MemoryKind::Mapped, MemoryKind::Imported, MemoryKind::Opened];
    let peers = rig.sizes(&PEER_FULL, &PEER_QUICK).into_iter().flat_map(|size| kinds.map(|kind| (size, kind)));
    let own = own.map(|(size, kind)| group(rig, size, kind, false));
    own.chain(peers.map(|(size, kind)| group(rig, size, kind, true))).collect()
}

/// Work of the first device on its own memory, or on that of a peer.
fn group<'r>(rig: &'r Rig<'_>, size: ByteSize, kind: MemoryKind, on_peer: bool) -> Planned<'r> {
    let peak = if on_peer { rig.peaks.peers.as_ref() } else { rig.peaks.memory.as_ref() };
    let rate = |work: DeviceWork| {
        // A copy inside a device crosses its memory twice; from a peer it crosses the link once.
        let crossing = if work == DeviceWork::Copy && !on_peer { Crossing::Twice } else { Crossing::Once };
        Output::rate(work.name()).of_peak(peak, crossing)
    };
    let output = |work: DeviceWork| match work {
        DeviceWork::Fill if size >= FLOOR_FROM && !rig.simulated => {
            rate(work).at_least(FLOOR, DeviceWork::Memset.name())
        }
        _ => rate(work),
    };
    let mut parameters = vec![("memory", kind.name().to_owned()), ("size", size.to_string())];
    if on_peer {
        parameters.push(("on", "peer".to_owned()));
    }
    Planned {
        outputs: DeviceWork::ALL.map(output).to_vec(),
        parameters,
        make: Box::new(move || {
            let home = if on_peer { rig.needed_peer()? } else { 0 };
            let timed = Rc::new(TimedStream::new(kind.driver(rig)?)?);
            Ok(Box::new(Rates { memory: OnDevice::new(rig, Rc::clone(&timed), size, kind, home)?, timed }))
        }),
    }
}

/// One rate for each kind of work.
struct Rates<'r> {
    memory: OnDevice<'r>,
    timed: Rc<TimedStream<'r>>,
}

impl Group for Rates<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { memory, timed } = self;
        let rate = |work| {
            memory.queue(work)?;
            timed.rate(memory.bytes(), 1, &|| memory.queue_row(work))
        };
        let rates = DeviceWork::ALL.into_iter().map(rate).collect::<Result<_, _>>()?;
        memory.check()?;
        Ok(rates)
    }
}
