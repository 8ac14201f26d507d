//! A whole share: memory is made here and becomes readable in another process, by descriptor and by legacy handle.
//!
//! The times of the whole begin with the first call here and end when the answer of the other process is back, so they
//! contain a message to it and one back. The other times are those of single calls.

use std::os::fd::AsFd;
use std::time::Instant;

use peermap_driver::{AllocationProp, ByteSize, HandleType};

use crate::clock::{nanoseconds, timed};
use crate::error::BenchError;
use crate::owned::{Allocated, Physical};
use crate::partner::{Order, Pair, Reach};
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const FULL: [ByteSize; 4] = [ByteSize::mib(2), ByteSize::mib(64), ByteSize::mib(256), ByteSize::mib(1024)];
const QUICK: [ByteSize; 2] = [ByteSize::mib(2), ByteSize::mib(64)];

const KIND: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    rig.sizes(&FULL, &QUICK).into_iter().flat_map(|size| [by_descriptor(rig, size), by_handle(rig, size)]).collect()
}

/// Create, export, send; there import, reserve, map, set access and read.
fn by_descriptor<'r>(rig: &'r Rig<'_>, size: ByteSize) -> Planned<'r> {
    let outputs = ["create_to_readable", "import_elsewhere", "first_read_elsewhere", "give_back_elsewhere"];
    Planned {
        outputs: outputs.map(Output::time).to_vec(),
        parameters: vec![("share", "descriptor".to_owned()), ("size", size.to_string())],
        make: Box::new(move || {
            let pair = rig.pair()?;
            let prop = AllocationProp::pinned_on(pair.device().0, KIND);
            Ok(Box::new(ByDescriptor { pair, prop, size }))
        }),
    }
}

struct ByDescriptor<'r> {
    pair: &'r Pair,
    prop: AllocationProp,
    size: ByteSize,
}

impl Group for ByDescriptor<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let (driver, size) = (self.pair.driver()?, self.size);
        let mut partner = self.pair.partner();
        let start = Instant::now();
        let physical = Physical::create(driver, size, &self.prop)?;
        let exported = driver.mem_export_to_shareable_handle(physical.handle, KIND, 0)?;
        let Some(descriptor) = exported.into_posix_fd() else {
            return Err(BenchError::NotHere("the export is no descriptor".to_owned()));
        };
        partner.order(&Order::Reach(Reach::Descriptor { size }), &[descriptor.as_fd()])?;
        let steps = partner.done()?;
        let whole = nanoseconds(start.elapsed());
        let back = partner.obey(&Order::LetGo)?;
        let (import, read) = (steps.first().copied(), steps.last().copied());
        Ok(vec![whole, import.unwrap_or(f64::NAN), read.unwrap_or(f64::NAN), back.iter().sum()])
    }
}

/// `cuMemAlloc`, handle, send; there open and read.
fn by_handle<'r>(rig: &'r Rig<'_>, size: ByteSize) -> Planned<'r> {
    let outputs = ["create_to_readable", "cuIpcGetMemHandle", "cuIpcOpenMemHandle", "cuIpcCloseMemHandle"];
    Planned {
        outputs: outputs.map(Output::time).to_vec(),
        parameters: vec![("share", "legacy handle".to_owned()), ("size", size.to_string())],
        make: Box::new(move || Ok(Box::new(ByHandle { pair: rig.pair()?, size }))),
    }
}

struct ByHandle<'r> {
    pair: &'r Pair,
    size: ByteSize,
}

impl Group for ByHandle<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let driver = self.pair.driver()?;
        let mut partner = self.pair.partner();
        let start = Instant::now();
        let memory = Allocated::new(driver, self.size)?;
        let (handle, get) = timed(|| driver.ipc_get_mem_handle(memory.ptr))?;
        partner.order(&Order::Reach(Reach::Legacy { handle: handle.0.to_vec() }), &[])?;
        let open = partner.done()?.first().copied().unwrap_or(f64::NAN);
        let whole = nanoseconds(start.elapsed());
        let close = partner.obey(&Order::LetGo)?.first().copied().unwrap_or(f64::NAN);
        Ok(vec![whole, get, open, close])
    }
}
