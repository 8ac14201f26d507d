//! What an item of queued work does to bytes.

use std::ops::Range;

use peermap_driver::{CuResult, DevicePtr, DriverError};
use peermap_exec::{Cause, Check, Stop, Window};
use peermap_memory::FaultKind;
use peermap_model::{Operation, WorkFault};

use crate::code::{Kernel, Shape};
use crate::printed::{Printed, Printer};
use crate::process::Memory;

/// How an item ended.
pub(crate) enum Ended {
    Well,
    Faulted(WorkFault),
    /// The simulation cannot go on.
    Broken(DriverError),
}

/// What an item may ask of the process whose it is.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'p> {
    /// What happens over and over as long as a kernel waits for others.
    pub(crate) meanwhile: &'p (dyn Fn() + Sync),
    /// The addresses of the buffer that an address lies in.
    pub(crate) buffer: &'p (dyn Fn(u64) -> Option<Range<u64>> + Sync),
    /// What takes the texts that kernels print.
    pub(crate) printer: &'p Printer,
}

/// Carries out one item.
pub(crate) fn execute(
    memory: &Memory,
    operation: &Operation,
    code: Option<&Kernel>,
    Surroundings { meanwhile, buffer, printer }: Surroundings<'_>,
) -> Ended {
    let result = match operation {
        Operation::Join | Operation::Mark { .. } => Ok(()),
        Operation::Await(_) => unreachable!("a wait for another process touches no bytes"),
        Operation::Fill { dst, value, size } => memory.view(dst.ordinal).fill(dst.ptr.get(), *value, size.get()),
        Operation::Copy { dst, src, size } => {
            let source = memory.view(src.ordinal);
            memory.view(dst.ordinal).copy_from(dst.ptr.get(), &source, src.ptr.get(), size.get())
        }
        Operation::FromHost { dst, src, size } => {
            let len = size.to_usize().expect("a length in this process's memory");
            let start = std::ptr::with_exposed_provenance(host_address(*src));
            // SAFETY: whoever queued the copy keeps these bytes allocated and unwritten until it has ended.
            let bytes = unsafe { std::slice::from_raw_parts(start, len) };
            memory.view(dst.ordinal).write(dst.ptr.get(), bytes)
        }
        Operation::ToHost { dst, src, size } => {
            let len = size.to_usize().expect("a length in this process's memory");
            let start = std::ptr::with_exposed_provenance_mut(host_address(*dst));
            // SAFETY: whoever queued the copy keeps these bytes allocated and untouched until it has ended.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, len) };
            memory.view(src.ordinal).read(src.ptr.get(), bytes)
        }
        Operation::Kernel { ordinal, grid, block, shared, parameters, data, .. } => {
            let Some(kernel) = code else { unreachable!("a launch is queued only for code that is known") };
            let printed = Printed::default();
            let print = &|text: &[u8]| printed.add(text);
            let (grid, block, shared, data) = (*grid, *block, *shared, data.get());
            let (checks, history) = (memory.checks, &memory.history);
            let shape = Shape { grid, block, shared, parameters, meanwhile, data, print, checks, history, buffer };
            let ended = kernel.run(memory.view(*ordinal), &shape);
            printer.print(printed);
            return ended.map_or_else(|stop| stopped(&stop), |()| Ended::Well);
        }
    };
    if let (Some((dst, size)), true) = (operation.overwrites(), memory.checks.has(Check::Aliases)) {
        memory.history.overwritten(memory.view(dst.ordinal), dst.ptr.get(), size.get());
    }
    match result {
        Ok(()) => Ended::Well,
        Err(fault) => ended_by(fault.kind, fault.address, fault.to_string()),
    }
}

fn host_address(raw: u64) -> usize {
    usize::try_from(raw).expect("a host address of this process")
}

/// Shared memory has no addresses from here on, whatever a device has of it.
const SHARED_ADDRESSES: u64 = 1 << 24;

/// How a launch ended that was stopped.
fn stopped(stop: &Stop) -> Ended {
    let what = stop.to_string();
    let address = stop.cause.address().map(DevicePtr::new);
    let failed = |result| Ended::Faulted(WorkFault { result, address, what: what.clone() });
    let apart = |result| Ended::Faulted(WorkFault { result, address: None, what: what.clone() });
    match &stop.cause {
        Cause::Memory { address, kind, .. } => ended_by(*kind, *address, what),
        Cause::WrongSpace { .. } => failed(CuResult::INVALID_ADDRESS_SPACE),
        Cause::Outside { window: Window::Shared, address, .. } if *address >= SHARED_ADDRESSES => {
            apart(CuResult::ILLEGAL_INSTRUCTION)
        }
        Cause::Outside { .. } => apart(CuResult::ILLEGAL_ADDRESS),
        Cause::Assertion { .. } => apart(CuResult::ASSERT),
        Cause::Trap => apart(CuResult::LAUNCH_FAILED),
        Cause::Deadline { .. } | Cause::Stuck(_) => apart(CuResult::LAUNCH_TIMEOUT),
        Cause::Finding(_) => Ended::Broken(DriverError::Finding { what }),
        Cause::NotModelled(_) => Ended::Broken(DriverError::NotModelled { what }),
    }
}

fn ended_by(kind: FaultKind, address: u64, what: String) -> Ended {
    let result = match kind {
        FaultKind::NotMapped | FaultKind::NoReadAccess | FaultKind::NoWriteAccess => CuResult::ILLEGAL_ADDRESS,
        FaultKind::Misaligned { .. } => CuResult::MISALIGNED_ADDRESS,
        FaultKind::Multicast | FaultKind::Unbound { .. } => {
            return Ended::Broken(DriverError::NotModelled { what });
        }
        FaultKind::HostMemory(_) | FaultKind::HostMapping(_) => return Ended::Broken(DriverError::Host { what }),
    };
    Ended::Faulted(WorkFault { result, address: Some(DevicePtr::new(address)), what })
}
