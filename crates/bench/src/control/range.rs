//! Ranges of many chunks: mapped, given rights at once and unmapped; grown by one; unmapped and mapped again.

use std::time::Instant;

use peermap_driver::{AccessDesc, ByteSize, Driver};

use crate::clock::between;
use crate::error::BenchError;
use crate::owned::{Physical, Reserved};
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const FULL: [usize; 5] = [1, 4, 16, 64, 256];
const QUICK: [usize; 2] = [1, 16];

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let counts: &[usize] = if rig.effort.quick { &QUICK } else { &FULL };
    let mut planned: Vec<Planned<'r>> = Vec::new();
    for count in counts {
        for granted in grants(rig) {
            planned.push(chunks(rig, *count, granted));
        }
    }
    planned.push(growth(rig));
    planned
}

/// How many devices get rights: the first, and all that reach its memory.
fn grants(rig: &Rig<'_>) -> Vec<usize> {
    let all = rig.devices.len();
    if rig.peer().is_some() { vec![1, all] } else { vec![1] }
}

fn rights(rig: &Rig<'_>, granted: usize) -> Vec<AccessDesc> {
    rig.devices[..granted].iter().map(|(device, _)| AccessDesc::read_write(device.0)).collect()
}

fn chunks<'r>(rig: &'r Rig<'_>, count: usize, granted: usize) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("map_chunks"), Output::time("set_access_chunks"), Output::time("unmap_chunks")],
        parameters: vec![("chunks", count.to_string()), ("granted", granted.to_string())],
        make: Box::new(move || {
            let chunk = rig.granularity()?;
            let total = times(chunk, count)?;
            let range = Reserved::new(rig.driver, total)?;
            let memory = (0..count).map(|_| Physical::create(rig.driver, chunk, &rig.memory_of(0)));
            let memory = memory.collect::<Result<Vec<_>, _>>()?;
            Ok(Box::new(Chunks { driver: rig.driver, chunk, range, memory, rights: rights(rig, granted) }))
        }),
    }
}

fn times(chunk: ByteSize, count: usize) -> Result<ByteSize, BenchError> {
    chunk.checked_mul(count as u64).ok_or_else(|| BenchError::NotHere("the range is too large".to_owned()))
}

struct Chunks<'d> {
    driver: &'d dyn Driver,
    chunk: ByteSize,
    range: Reserved<'d>,
    memory: Vec<Physical<'d>>,
    rights: Vec<AccessDesc>,
}

impl Group for Chunks<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { driver, chunk, range, memory, rights } = self;
        let start = Instant::now();
        for (index, physical) in memory.iter().enumerate() {
            let ptr = range.at(times(*chunk, index)?);
            driver.mem_map(ptr, *chunk, ByteSize::ZERO, physical.handle, 0)?;
        }
        let mapped = Instant::now();
        driver.mem_set_access(range.ptr, range.size, rights)?;
        let granted = Instant::now();
        driver.mem_unmap(range.ptr, range.size)?;
        let end = Instant::now();
        Ok(between(&[start, mapped, granted, end]))
    }
}

/// One step of a growing allocator: memory, mapping and rights for the next chunk. Beside it the same chunk unmapped and mapped
/// again with its memory kept.
fn growth<'r>(rig: &'r Rig<'_>) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("growth_step"), Output::time("remap")],
        parameters: Vec::new(),
        make: Box::new(move || {
            let chunk = rig.granularity()?;
            let range = Reserved::new(rig.driver, times(chunk, 2)?)?;
            Ok(Box::new(Growth { rig, chunk, range, rights: rights(rig, 1) }))
        }),
    }
}

struct Growth<'r, 'd> {
    rig: &'r Rig<'d>,
    chunk: ByteSize,
    range: Reserved<'r>,
    rights: Vec<AccessDesc>,
}

impl Group for Growth<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { rig, chunk, range, rights } = self;
        let (driver, chunk, ptr) = (rig.driver, *chunk, range.at(*chunk));
        let start = Instant::now();
        let physical = Physical::create(driver, chunk, &rig.memory_of(0))?;
        driver.mem_map(ptr, chunk, ByteSize::ZERO, physical.handle, 0)?;
        driver.mem_set_access(ptr, chunk, rights)?;
        let grown = Instant::now();
        driver.mem_unmap(ptr, chunk)?;
        driver.mem_map(ptr, chunk, ByteSize::ZERO, physical.handle, 0)?;
        driver.mem_set_access(ptr, chunk, rights)?;
        let end = Instant::now();
        driver.mem_unmap(ptr, chunk)?;
        Ok(between(&[start, grown, end]))
    }
}
