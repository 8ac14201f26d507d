//! What must hold after every step.

use peermap_driver::{AccessFlags, Driver, Location};
use peermap_model::{AllocId, DriverMemory, Holding, Place};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::world::{World, address};

type Check = Result<(), TestCaseError>;

impl World {
    /// Everything that can be asked of the machine.
    pub fn check(&self) -> Check {
        self.check_holders()?;
        self.check_budget()?;
        for process in 0..self.reference.processes.len() {
            self.check_mappings(process)?;
        }
        Ok(())
    }

    /// An allocation is there exactly as long as somebody holds it, and the machine knows who.
    fn check_holders(&self) -> Check {
        let reference = &self.reference;
        let kept: Vec<usize> = (0..reference.allocations.len()).filter(|index| reference.is_kept(*index)).collect();
        let lines = self.machine.holders().unwrap().0;
        let ids: Vec<AllocId> = lines.iter().map(|line| line.alloc).collect();
        prop_assert_eq!(ids, kept.iter().map(|index| AllocId(*index as u64)).collect::<Vec<_>>());
        for (line, index) in lines.iter().zip(kept) {
            let allocation = &reference.allocations[index];
            prop_assert_eq!(line.place, Place::Device(u16::try_from(allocation.device).unwrap()));
            prop_assert_eq!(line.size.get(), address(allocation.bytes.len() as u64));
            prop_assert_eq!(line.descriptors.len(), reference.exports_of(index));
            let holding = |handle| if handle { Holding::Handle } else { Holding::Mapping };
            let expected: Vec<_> = (0..reference.processes.len())
                .filter_map(|process| {
                    let holds = reference.processes[process].holds(index)?;
                    Some((self.processes[process].id(), holding(holds)))
                })
                .collect();
            let mut processes = line.processes.clone();
            processes.sort_by_key(|(id, _)| self.processes.iter().position(|process| process.id() == *id));
            prop_assert_eq!(processes, expected);
        }
        Ok(())
    }

    /// Free and used memory of each device add up.
    fn check_budget(&self) -> Check {
        for device in 0..2u32 {
            let info = self.observer.thread(device).mem_get_info().unwrap();
            let used = self.reference.used(i32::try_from(device).unwrap());
            // Each process and the observer have a context of each device.
            let contexts = self.processes.len() as u64 + 1;
            let DriverMemory { device: always, context, .. } = self.driver_memory;
            let driver = always.get() + contexts * context.get();
            prop_assert_eq!(info.total.get() - info.free.get(), driver + address(used), "device {}", device);
        }
        Ok(())
    }

    /// Each device reaches exactly what it was given, and finds there the bytes that were last written.
    fn check_mappings(&self, process: usize) -> Check {
        let state = &self.reference.processes[process];
        for device in 0..2u32 {
            let driver = self.processes[process].thread(device);
            let location = Location::device(i32::try_from(device).unwrap());
            for (start, mapping) in &state.mappings {
                let rights = mapping.rights[device as usize];
                for at in *start..mapping.end(*start) {
                    let flags = driver.mem_get_access(self.ptr(at), location);
                    prop_assert_eq!(flags, Ok(AccessFlags(rights)));
                    let mut byte = [0xEE];
                    let copied = driver.memcpy_dtoh(&mut byte, self.ptr(at));
                    prop_assert_eq!(copied.is_ok(), rights > 0, "{:?}", copied);
                    let expected = if rights > 0 { self.reference.byte(process, at) } else { 0xEE };
                    prop_assert_eq!(byte[0], expected, "process {} at granule {:#x}", process, at);
                }
            }
            for (start, granules) in &state.reservations {
                let unmapped = (*start..start + granules).filter(|at| state.mapping_at(*at).is_none());
                for at in unmapped {
                    prop_assert!(driver.mem_get_access(self.ptr(at), location).is_err());
                    prop_assert!(driver.memcpy_dtoh(&mut [0], self.ptr(at)).is_err());
                }
            }
        }
        Ok(())
    }

    /// When all processes and descriptors are gone, so is all memory, and what comes next reads as zero.
    pub fn end(mut self) -> Check {
        self.processes.clear();
        self.reference.descriptors.clear();
        self.reference.processes.clear();
        self.check()?;
        prop_assert_eq!(self.machine.holders().unwrap().0, vec![]);
        prop_assert_eq!(self.machine.host_memory_used().get(), 0);
        Ok(())
    }
}
