//! D9: a set-up failed, kept what it had made, and was tried again until nothing was left.
//!
//! Whichever call of a set-up fails, and whether or not the peer is there: descriptors, memory, handles and reservations are
//! afterwards what they were. A set-up that gives nothing back is shown by the simulator, with the calls that made what stays.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use peermap_driver::{
    AccessDesc, ByteSize, Call, CuResult, DevicePtr, Driver, DriverError, HandleType, Intercepted, Interceptor,
    MemHandle, ShareableHandle, Value,
};
use peermap_ipc::{Channel, Deadline, limits};

use crate::expect::{holds, same};
use crate::machine::Machine;
use crate::process::{Process, prop, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// More calls than a set-up makes.
const MOST_CALLS: i64 = 8;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let machine = stage.machine()?;
    let process = machine.process()?;
    process.context(0)?;
    let size = times(process.granule()?, stage.random().u64(1..=4));
    // What a driver opens for the first export stays open.
    once(&process, size, MOST_CALLS, true)?;
    let before = (process.free_memory()?, limits::open_descriptors()?);
    let mut succeeded = false;
    for failing in 0..MOST_CALLS {
        for peer_is_there in [true, false] {
            let there = once(&process, size, failing, peer_is_there)?;
            succeeded |= there;
            same("free memory and open descriptors", (process.free_memory()?, limits::open_descriptors()?), before)?;
        }
    }
    holds("a set-up of which nothing fails succeeds", succeeded, MOST_CALLS)?;
    leak(&machine, &process, size)
}

/// A set-up whose n-th call fails; whether it succeeded. All that it made is given back.
fn once(process: &Process, size: ByteSize, failing: i64, peer_is_there: bool) -> Result<bool, Trouble> {
    let (ours, theirs) = Channel::pair()?;
    let theirs = peer_is_there.then_some(theirs);
    let ledger = Intercepted::new(&**process, Ledger::failing(failing));
    let set_up = SetUp::new(&ledger, size).and_then(|set_up| set_up.exchange(&ours));
    let succeeded = set_up.is_ok();
    drop((set_up, theirs));
    same("reservations and mappings that stay", ledger.interceptor().open.load(Ordering::Relaxed), 0)?;
    Ok(succeeded)
}

/// A set-up that fails and gives nothing back, which the simulator must show.
fn leak(machine: &Machine<'_>, process: &Process, size: ByteSize) -> Result<(), Trouble> {
    let handle = process.create(size)?;
    let exported = process.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
    if let Some(holders) = machine.holders()? {
        let named = holders.0.iter().any(|line| {
            let exported =
                line.descriptors.iter().any(|descriptor| descriptor.made_by.call == Call::cuMemExportToShareableHandle);
            line.made_by.call == Call::cuMemCreate && exported
        });
        holds("the list of holders names what is leaked", named, holders)?;
    }
    drop(exported);
    Ok(process.mem_release(handle)?)
}

/// Memory of one's own that a peer gets, as far as it has come.
struct SetUp<'d> {
    driver: &'d dyn Driver,
    size: ByteSize,
    handle: Option<MemHandle>,
    exported: Option<ShareableHandle>,
    reserved: Option<DevicePtr>,
    mapped: bool,
}

impl<'d> SetUp<'d> {
    fn new(driver: &'d dyn Driver, size: ByteSize) -> Result<Self, Trouble> {
        let mut it = Self { driver, size, handle: None, exported: None, reserved: None, mapped: false };
        let handle = driver.mem_create(size, &prop(0), 0)?;
        it.handle = Some(handle);
        it.exported = Some(driver.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0)?);
        let ptr = driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0)?;
        it.reserved = Some(ptr);
        driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0)?;
        it.mapped = true;
        driver.mem_set_access(ptr, size, &[AccessDesc::read_write(0)])?;
        Ok(it)
    }

    fn exchange(self, peer: &Channel) -> Result<Self, Trouble> {
        if let Some(ShareableHandle::PosixFd(descriptor)) = &self.exported {
            peer.send(b"memory", &[descriptor.as_fd()], Deadline::after(Duration::from_secs(1)))?;
        }
        Ok(self)
    }
}

impl Drop for SetUp<'_> {
    /// What fails here shows in what stays.
    fn drop(&mut self) {
        let driver = self.driver;
        if let Some(ptr) = self.reserved {
            if self.mapped {
                drop(driver.mem_unmap(ptr, self.size));
            }
            drop(driver.mem_address_free(ptr, self.size));
        }
        if let Some(handle) = self.handle {
            drop(driver.mem_release(handle));
        }
    }
}

/// Fails one call, and counts what is reserved and mapped.
struct Ledger {
    left: AtomicI64,
    open: AtomicI64,
}

impl Ledger {
    const fn failing(call: i64) -> Self {
        Self { left: AtomicI64::new(call), open: AtomicI64::new(0) }
    }
}

impl Interceptor for Ledger {
    fn before(&self, call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<(), DriverError> {
        let gives_back = matches!(call, Call::cuMemUnmap | Call::cuMemAddressFree | Call::cuMemRelease);
        if !gives_back && self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(DriverError::refused(CuResult::NOT_PERMITTED));
        }
        Ok(())
    }

    fn after(&self, call: Call, error: Option<&DriverError>) {
        let change = match call {
            _ if error.is_some() => 0,
            Call::cuMemAddressReserve | Call::cuMemMap => 1,
            Call::cuMemAddressFree | Call::cuMemUnmap => -1,
            _ => 0,
        };
        self.open.fetch_add(change, Ordering::Relaxed);
    }
}
