//! The machine under test beside the reference, and how a step is made in both.

use std::fs::File;
use std::os::fd::AsFd;

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, Call, CuResult, Device, DevicePtr, Driver, DriverError,
    HandleType, Location, MemHandle, OsHandle,
};
use peermap_model::{DriverMemory, Grace, Policy, Profile};
use peermap_sim::{MachineOptions, SimMachine, SimProcess, SimThread};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::Tally;
use crate::operation::{Operation, Range, What};
use crate::reference::{Allocation, Descriptor, Expected, Handle, INVALID, Process, Reference};

const GRANULE: u64 = 64 << 10;

/// Granules as bytes.
pub fn address(granules: u64) -> u64 {
    granules * GRANULE
}

const fn size(granules: u64) -> ByteSize {
    ByteSize::new(granules * GRANULE)
}

/// The machine, its processes, one more process that only looks, and what the reference thinks of them.
pub struct World {
    pub machine: SimMachine,
    pub processes: Vec<SimProcess>,
    pub observer: SimProcess,
    pub reference: Reference,
    /// What the driver takes of a device.
    pub driver_memory: DriverMemory,
}

/// A process with a context of each device, current on the thread of that number.
fn start(machine: &SimMachine) -> SimProcess {
    let process = machine.process().unwrap();
    process.init(0).unwrap();
    for device in 0..2 {
        process.thread(device).ctx_create(0, Device(i32::try_from(device).unwrap())).unwrap();
    }
    process
}

fn pick<T: Clone>(from: &[T], choice: usize) -> Option<T> {
    (!from.is_empty()).then(|| from[choice % from.len()].clone())
}

/// Compares how a call ended with how it must end, and counts it.
fn judge<T>(
    tally: &mut Tally,
    call: Call,
    expected: Expected,
    answer: Result<T, DriverError>,
) -> Result<Option<T>, TestCaseError> {
    let (accepted, rejected) = tally.entry(call).or_default();
    match answer {
        Ok(value) => {
            *accepted += 1;
            prop_assert_eq!(expected, Expected::Accepted, "{} was accepted", call);
            Ok(Some(value))
        }
        Err(error) => {
            *rejected += 1;
            let got = error.result().map_or(Expected::Crash, Expected::Refused);
            prop_assert_eq!(got, expected, "{}: {}", call, error);
            prop_assert!(error.rule().is_some(), "{}: {}", call, error);
            Ok(None)
        }
    }
}

impl World {
    pub fn new(processes: usize, policy: Policy) -> Self {
        let options = MachineOptions {
            policy,
            grace: Grace::Never,
            host_memory: Some(ByteSize::mib(256)),
            ..MachineOptions::default()
        };
        let profile = Profile::named("g64k").unwrap();
        let driver_memory = profile.driver_memory;
        let machine = SimMachine::new(profile, options).unwrap();
        let observer = start(&machine);
        let started = (0..processes).map(|_| start(&machine)).collect();
        let reference =
            Reference { processes: (0..processes).map(|_| Process::default()).collect(), ..Reference::default() };
        Self { machine, processes: started, observer, reference, driver_memory }
    }

    pub fn ptr(&self, at: u64) -> DevicePtr {
        DevicePtr::new(address(at))
    }

    /// Start and size of a range; somewhere that nobody reserved if the process has neither mapping nor reservation.
    fn place(&self, process: usize, at: Range) -> (u64, u64) {
        let state = &self.reference.processes[process];
        let mappings: Vec<_> = state.mappings.iter().map(|(start, mapping)| (*start, mapping.granules)).collect();
        let reservations: Vec<_> = state.reservations.clone().into_iter().collect();
        let from = if at.mapped && !mappings.is_empty() { mappings } else { reservations };
        let (start, whole) = pick(&from, at.place).unwrap_or((1, 1));
        (start + at.offset, at.granules.unwrap_or(whole))
    }

    fn thread(&self, process: usize, device: i32) -> SimThread {
        self.processes[process].thread(u32::try_from(device).unwrap())
    }

    /// Makes one step in both worlds.
    pub fn step(&mut self, operation: &Operation, tally: &mut Tally) -> Result<(), TestCaseError> {
        let process = operation.process % self.processes.len();
        match operation.what.clone() {
            What::Nothing => Ok(()),
            What::Create { device, granules, shared } => self.create(process, device, granules, shared, tally),
            What::Release { handle } => self.release(process, handle, tally),
            What::Reserve { granules } => self.reserve(process, granules, tally).map(|_| ()),
            What::Free { reservation, wrong } => self.free(process, reservation, wrong, tally),
            What::Map { at, handle, wrong } => {
                let Some(value) = pick(&self.reference.processes[process].values, handle) else { return Ok(()) };
                let (start, given) = self.place(process, at);
                let fitting = self.granules_of(process, value).filter(|_| !wrong);
                self.map(process, start, fitting.unwrap_or(given), value, tally)
            }
            What::MapWhole { handle } => self.map_whole(process, handle, tally),
            What::Unmap { at } => self.unmap(process, self.place(process, at), tally),
            What::SetAccess { at, device, flags } => {
                self.set_access(process, self.place(process, at), device, flags, tally)
            }
            What::GetAccess { at, device } => self.get_access(process, self.place(process, at).0, device, tally),
            What::Export { handle, flags } => self.export(process, handle, flags, tally),
            What::Duplicate { descriptor } => self.duplicate(descriptor),
            What::Close { descriptor } => self.close(descriptor),
            What::Import { descriptor, closed } => self.import(process, descriptor, closed, tally),
            What::Retain { at } => self.retain(process, self.place(process, at).0, tally),
            What::Fill { at, device, value } => self.fill(process, self.place(process, at), device, value, tally),
            What::CopyBack { at, device } => self.copy_back(process, self.place(process, at), device, tally),
            What::End => {
                self.processes[process] = start(&self.machine);
                self.reference.processes[process] = Process::default();
                Ok(())
            }
        }
    }

    fn granules_of(&mut self, process: usize, value: MemHandle) -> Option<u64> {
        let allocation = self.reference.processes[process].handle(value)?.allocation;
        Some(self.reference.allocations[allocation].bytes.len() as u64)
    }

    fn take_handle(&mut self, process: usize, value: MemHandle, allocation: usize, imported: bool) {
        let state = &mut self.reference.processes[process];
        state.handles.push(Handle { value, allocation, references: 1, imported });
        state.values.push(value);
    }

    fn create(
        &mut self,
        process: usize,
        device: i32,
        granules: u64,
        shared: bool,
        tally: &mut Tally,
    ) -> Result<(), TestCaseError> {
        let handle_types = if shared { HandleType::POSIX_FILE_DESCRIPTOR } else { HandleType::NONE };
        let prop = AllocationProp::pinned_on(device, handle_types);
        let expected = match (device, granules) {
            (7, _) => Expected::Refused(CuResult::INVALID_DEVICE),
            (_, 0) => INVALID,
            _ => Expected::Accepted,
        };
        let answer = self.processes[process].mem_create(size(granules), &prop, 0);
        if let Some(value) = judge(tally, Call::cuMemCreate, expected, answer)? {
            let bytes = vec![0; usize::try_from(granules).unwrap()];
            self.reference.allocations.push(Allocation { device, shared, bytes });
            self.take_handle(process, value, self.reference.allocations.len() - 1, false);
        }
        Ok(())
    }

    fn release(&mut self, process: usize, handle: usize, tally: &mut Tally) -> Result<(), TestCaseError> {
        let state = &mut self.reference.processes[process];
        let Some(value) = pick(&state.values, handle) else { return Ok(()) };
        let expected = match state.handle(value).filter(|handle| handle.references > 0) {
            Some(handle) => {
                handle.references -= 1;
                Expected::Accepted
            }
            None => INVALID,
        };
        state.forget_handles();
        judge(tally, Call::cuMemRelease, expected, self.processes[process].mem_release(value)).map(|_| ())
    }

    fn reserve(&mut self, process: usize, granules: u64, tally: &mut Tally) -> Result<Option<u64>, TestCaseError> {
        let expected = if granules == 0 { INVALID } else { Expected::Accepted };
        let answer = self.processes[process].mem_address_reserve(size(granules), ByteSize::ZERO, DevicePtr::NULL, 0);
        let Some(ptr) = judge(tally, Call::cuMemAddressReserve, expected, answer)? else { return Ok(None) };
        prop_assert!(ptr.is_multiple_of(size(1)));
        let start = ptr.get() / GRANULE;
        let state = &mut self.reference.processes[process];
        prop_assert!((start..start + granules).all(|at| !state.is_reserved(at)), "reserved twice");
        state.reservations.insert(start, granules);
        Ok(Some(start))
    }

    fn free(&mut self, process: usize, choice: usize, wrong: bool, tally: &mut Tally) -> Result<(), TestCaseError> {
        let state = &mut self.reference.processes[process];
        let reservations: Vec<_> = state.reservations.clone().into_iter().collect();
        let Some((start, granules)) = pick(&reservations, choice) else { return Ok(()) };
        let expected = if wrong || !state.touching(start, start + granules).is_empty() {
            INVALID
        } else {
            state.reservations.remove(&start);
            Expected::Accepted
        };
        let answer = self.processes[process].mem_address_free(self.ptr(start), size(granules + u64::from(wrong)));
        judge(tally, Call::cuMemAddressFree, expected, answer).map(|_| ())
    }

    fn map(
        &mut self,
        process: usize,
        start: u64,
        granules: u64,
        value: MemHandle,
        tally: &mut Tally,
    ) -> Result<(), TestCaseError> {
        let Reference { processes, allocations, .. } = &mut self.reference;
        let expected = processes[process].map(start, granules, value, allocations);
        let answer = self.processes[process].mem_map(self.ptr(start), size(granules), ByteSize::ZERO, value, 0);
        judge(tally, Call::cuMemMap, expected, answer).map(|_| ())
    }

    fn map_whole(&mut self, process: usize, choice: usize, tally: &mut Tally) -> Result<(), TestCaseError> {
        let Some(value) = pick(&self.reference.processes[process].values, choice) else { return Ok(()) };
        let Some(granules) = self.granules_of(process, value) else { return Ok(()) };
        let Some(start) = self.reserve(process, granules, tally)? else { return Ok(()) };
        self.map(process, start, granules, value, tally)?;
        self.set_access(process, (start, granules), 0, 3, tally)?;
        self.set_access(process, (start, granules), 1, 3, tally)
    }

    fn unmap(&mut self, process: usize, (start, granules): (u64, u64), tally: &mut Tally) -> Result<(), TestCaseError> {
        let expected = self.reference.processes[process].unmap(start, granules);
        let answer = self.processes[process].mem_unmap(self.ptr(start), size(granules));
        judge(tally, Call::cuMemUnmap, expected, answer).map(|_| ())
    }

    fn set_access(
        &mut self,
        process: usize,
        (start, granules): (u64, u64),
        device: i32,
        flags: u64,
        tally: &mut Tally,
    ) -> Result<(), TestCaseError> {
        let expected = self.reference.processes[process].set_access(start, granules, device, flags);
        let desc = AccessDesc { location: Location::device(device), flags: AccessFlags(flags) };
        let answer = self.processes[process].mem_set_access(self.ptr(start), size(granules), &[desc]);
        judge(tally, Call::cuMemSetAccess, expected, answer).map(|_| ())
    }

    fn get_access(&self, process: usize, at: u64, device: i32, tally: &mut Tally) -> Result<(), TestCaseError> {
        let mapping = self.reference.processes[process].mapping_at(at);
        let expected = match (mapping, device) {
            (_, 7) => Expected::Refused(CuResult::INVALID_DEVICE),
            (None, _) => INVALID,
            (Some(_), _) => Expected::Accepted,
        };
        let answer = self.processes[process].mem_get_access(self.ptr(at), Location::device(device));
        judge(tally, Call::cuMemGetAccess, expected, answer).map(|_| ())
    }

    fn export(&mut self, process: usize, choice: usize, flags: u64, tally: &mut Tally) -> Result<(), TestCaseError> {
        let state = &mut self.reference.processes[process];
        let Some(value) = pick(&state.values, choice) else { return Ok(()) };
        let held = state.handle(value).filter(|handle| handle.references > 0).cloned();
        let expected = match &held {
            _ if flags != 0 => INVALID,
            None => Expected::Crash,
            Some(handle) if handle.imported || !self.reference.allocations[handle.allocation].shared => INVALID,
            Some(_) => Expected::Accepted,
        };
        let kind = HandleType::POSIX_FILE_DESCRIPTOR;
        let answer = self.processes[process].mem_export_to_shareable_handle(value, kind, flags);
        if let Some(exported) = judge(tally, Call::cuMemExportToShareableHandle, expected, answer)? {
            let file = exported.into_posix_fd().expect("a descriptor was asked for");
            let allocation = held.expect("an accepted export has a handle").allocation;
            self.reference.exports += 1;
            let export = self.reference.exports;
            self.reference.descriptors.push(Descriptor { file, export, allocation });
        }
        Ok(())
    }

    fn duplicate(&mut self, choice: usize) -> Result<(), TestCaseError> {
        let descriptors = &mut self.reference.descriptors;
        if let Some(Descriptor { file, export, allocation }) = descriptors.get(choice % descriptors.len().max(1)) {
            let copy = Descriptor { file: file.try_clone().unwrap(), export: *export, allocation: *allocation };
            descriptors.push(copy);
        }
        Ok(())
    }

    fn close(&mut self, choice: usize) -> Result<(), TestCaseError> {
        let descriptors = &mut self.reference.descriptors;
        if !descriptors.is_empty() {
            descriptors.remove(choice % descriptors.len());
        }
        Ok(())
    }

    fn import(&mut self, process: usize, choice: usize, closed: bool, tally: &mut Tally) -> Result<(), TestCaseError> {
        let descriptors = &self.reference.descriptors;
        let chosen = descriptors.get(choice % descriptors.len().max(1)).filter(|_| !closed);
        let null = File::open("/dev/null").unwrap();
        let (from, expected) = match chosen {
            Some(descriptor) => (OsHandle::Fd(descriptor.file.as_fd()), Expected::Accepted),
            None if choice.is_multiple_of(2) => (OsHandle::FdNumber(9999), Expected::Refused(CuResult::UNKNOWN)),
            None => (OsHandle::Fd(null.as_fd()), Expected::Refused(CuResult::UNKNOWN)),
        };
        let allocation = chosen.map(|descriptor| descriptor.allocation);
        let answer = self.processes[process].mem_import_from_shareable_handle(from, HandleType::POSIX_FILE_DESCRIPTOR);
        if let Some(value) = judge(tally, Call::cuMemImportFromShareableHandle, expected, answer)? {
            self.take_handle(process, value, allocation.expect("an accepted import has a descriptor"), true);
        }
        Ok(())
    }

    fn retain(&mut self, process: usize, at: u64, tally: &mut Tally) -> Result<(), TestCaseError> {
        let state = &mut self.reference.processes[process];
        let mapped = state.mapping_at(at).map(|(_, mapping)| mapping.handle);
        let expected = if mapped.is_some() { Expected::Accepted } else { INVALID };
        let answer = self.processes[process].mem_retain_allocation_handle(DevicePtr::new(address(at)));
        if let Some(value) = judge(tally, Call::cuMemRetainAllocationHandle, expected, answer)? {
            prop_assert_eq!(Some(value), mapped);
            state.handle(value).expect("a mapping keeps its handle").references += 1;
        }
        Ok(())
    }

    fn fill(
        &mut self,
        process: usize,
        (start, granules): (u64, u64),
        device: i32,
        value: u8,
        tally: &mut Tally,
    ) -> Result<(), TestCaseError> {
        let reached = self.reference.processes[process].reaches(device, start, granules, 3);
        let expected = if reached { Expected::Accepted } else { INVALID };
        let driver = self.thread(process, device);
        let answer = driver.memset_d8(self.ptr(start), value, size(granules));
        if judge(tally, Call::cuMemsetD8, expected, answer)?.is_some() {
            prop_assert_eq!(driver.ctx_synchronize(), Ok(()));
            self.reference.fill(process, start, granules, value);
        }
        Ok(())
    }

    fn copy_back(
        &self,
        process: usize,
        (start, granules): (u64, u64),
        device: i32,
        tally: &mut Tally,
    ) -> Result<(), TestCaseError> {
        let reached = self.reference.processes[process].reaches(device, start, granules, 1);
        let expected = if reached { Expected::Accepted } else { INVALID };
        let mut bytes = vec![0xEE; usize::try_from(address(granules)).unwrap()];
        let answer = self.thread(process, device).memcpy_dtoh(&mut bytes, self.ptr(start));
        if judge(tally, Call::cuMemcpyDtoH, expected, answer)?.is_some() {
            for (at, chunk) in (start..).zip(bytes.chunks(usize::try_from(GRANULE).unwrap())) {
                let expected = self.reference.byte(process, at);
                prop_assert!(chunk.iter().all(|byte| *byte == expected), "granule {at:#x} is not all {expected}");
            }
        }
        Ok(())
    }
}
