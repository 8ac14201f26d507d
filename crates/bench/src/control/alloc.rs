//! `cuMemAlloc` with peers enabled, beside the virtual memory calls for one peer: with the first, every allocation is opened to
//! every peer that is enabled, which is why the others exist.

use std::time::Instant;

use peermap_driver::{AccessDesc, ByteSize, Context};

use crate::clock::{between, timed};
use crate::error::BenchError;
use crate::owned::{Mapped, Physical};
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const FULL: [ByteSize; 3] = [ByteSize::mib(2), ByteSize::mib(64), ByteSize::mib(1024)];
const QUICK: [ByteSize; 2] = [ByteSize::mib(2), ByteSize::mib(64)];

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let mut planned = Vec::new();
    for size in rig.sizes(&FULL, &QUICK) {
        planned.extend((0..rig.devices.len()).map(|peers| legacy(rig, size, peers)));
        planned.push(one_peer(rig, size));
    }
    planned
}

/// `cuMemAlloc` and `cuMemFree` with so many peers that have access to the context.
fn legacy<'r>(rig: &'r Rig<'_>, size: ByteSize, peers: usize) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("cuMemAlloc"), Output::time("cuMemFree")],
        parameters: vec![("peers", peers.to_string()), ("size", size.to_string())],
        make: Box::new(move || Ok(Box::new(Legacy { rig, size, _peers: Enabled::new(rig, peers)? }))),
    }
}

/// Peer access of some devices to the memory of the first; it goes with this.
struct Enabled<'r, 'd> {
    rig: &'r Rig<'d>,
    peers: Vec<Context>,
}

impl<'r, 'd> Enabled<'r, 'd> {
    fn new(rig: &'r Rig<'d>, count: usize) -> Result<Self, BenchError> {
        let (first, own) = rig.devices[0];
        let mut enabled = Self { rig, peers: Vec::new() };
        for index in 1..=count {
            let (device, context) = rig.devices[index];
            if !rig.driver.device_can_access_peer(device, first)? {
                return Err(BenchError::NotHere(format!("device {index} does not reach device 0")));
            }
            rig.work_on(index)?;
            rig.driver.ctx_enable_peer_access(own, 0)?;
            enabled.peers.push(context);
        }
        rig.work_on(0)?;
        Ok(enabled)
    }
}

impl Drop for Enabled<'_, '_> {
    fn drop(&mut self) {
        let own = self.rig.devices[0].1;
        for peer in &self.peers {
            // Whoever measures has learnt of a failing driver from the call that mattered.
            drop(self.rig.driver.ctx_set_current(Some(*peer)));
            drop(self.rig.driver.ctx_disable_peer_access(own));
        }
        drop(self.rig.work_on(0));
    }
}

struct Legacy<'r, 'd> {
    rig: &'r Rig<'d>,
    size: ByteSize,
    _peers: Enabled<'r, 'd>,
}

impl Group for Legacy<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let driver = self.rig.driver;
        let (ptr, alloc) = timed(|| driver.mem_alloc(self.size))?;
        let ((), free) = timed(|| driver.mem_free(ptr))?;
        Ok(vec![alloc, free])
    }
}

/// Create, reserve, map and set access for one peer, and all of it back.
fn one_peer<'r>(rig: &'r Rig<'_>, size: ByteSize) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("vmm_for_one_peer"), Output::time("vmm_back")],
        parameters: vec![("size", size.to_string())],
        make: Box::new(move || {
            let peer = rig.needed_peer()?;
            let rights = [0, peer].map(|index| AccessDesc::read_write(rig.devices[index].0.0));
            Ok(Box::new(OnePeer { rig, size, rights }))
        }),
    }
}

struct OnePeer<'r, 'd> {
    rig: &'r Rig<'d>,
    size: ByteSize,
    rights: [AccessDesc; 2],
}

impl Group for OnePeer<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let driver = self.rig.driver;
        let start = Instant::now();
        let physical = Physical::create(driver, self.size, &self.rig.memory_of(0))?;
        let mapped = Mapped::new(driver, physical, &self.rights)?;
        let there = Instant::now();
        drop(mapped);
        let end = Instant::now();
        Ok(between(&[start, there, end]))
    }
}
