//! What the tests of the simulated driver share: machines of this process, and what calls answer.

mod memory;
mod registers;

use std::fmt::Debug;

use peermap_driver::{ByteSize, CuResult, Device, DevicePtr, Driver, DriverError};
use peermap_model::{Grace, Policy, Profile};
use peermap_sim::{MachineOptions, SimMachine, SimProcess};

pub use memory::{GRANULE, create, export, import, map, mapped, read, reserve};
pub use registers::a_kernel_of_registers;

/// Two devices as measured; work runs only when something waits for it.
pub fn machine() -> SimMachine {
    machine_with(Policy::Measured, Grace::Never)
}

/// Two devices with a policy and a grace.
pub fn machine_with(policy: Policy, grace: Grace) -> SimMachine {
    let options = MachineOptions { policy, grace, ..MachineOptions::default() };
    SimMachine::new(Profile::named("h200-x2").unwrap(), options).unwrap()
}

/// A process that has called `cuInit`.
pub fn process(machine: &SimMachine) -> SimProcess {
    let process = machine.process().unwrap();
    process.init(0).unwrap();
    process
}

/// A process with a context of device 0 current on this thread.
pub fn in_context(machine: &SimMachine) -> SimProcess {
    let process = process(machine);
    process.ctx_create(0, Device(0)).unwrap();
    process
}

/// An address further on.
pub fn offset(ptr: DevicePtr, bytes: u64) -> DevicePtr {
    ptr.checked_add(ByteSize::new(bytes)).unwrap()
}

/// Which rule refused a call, and with which code; no code where the real driver would crash.
pub fn refusal<T: Debug>(answer: Result<T, DriverError>) -> (&'static str, Option<CuResult>) {
    let error = answer.unwrap_err();
    let rule = error.rule().unwrap_or_else(|| panic!("no rule in {error}"));
    (rule.0, error.result())
}

/// Which rule refused a call.
pub fn rule<T: Debug>(answer: Result<T, DriverError>) -> &'static str {
    refusal(answer).0
}

/// Memory of a machine that anybody holds.
pub fn held_bytes(machine: &SimMachine) -> u64 {
    machine.holders().unwrap().0.iter().map(|line| line.size.get()).sum()
}
