//! A machine and a process of the model, without bytes, descriptors or sockets.

use std::sync::Arc;

use peermap_driver::{
    AllocationProp, ByteSize, Call, Context, Device, DevicePtr, DriverError, Event, HandleType, MemHandle, Result,
    Stream,
};
use peermap_model::{
    Answer, Ask, Backing, ExportId, Grace, Machine, MachineLink, Outcome, Outside, PageTables, Policy, Process,
    ProcessId, ProcessOptions, Profile, Rights, ThreadId, Wait, Work,
};

pub const GRANULE: ByteSize = ByteSize::mib(2);

/// The thread that makes the calls, and another one.
pub const THREAD: ThreadId = ThreadId(0);
pub const OTHER_THREAD: ThreadId = ThreadId(1);

/// A process with its machine.
pub struct Bench {
    pub machine: Machine,
    pub process: Process,
}

struct Direct<'a> {
    machine: &'a mut Machine,
    process: ProcessId,
}

impl MachineLink for Direct<'_> {
    fn ask(&mut self, ask: Ask) -> Result<Answer> {
        let answered = self.machine.answer(self.process, ask, None::<ExportId>);
        answered.map(|(answer, _)| answer).map_err(|error| DriverError::Host { what: error.to_string() })
    }
}

/// Page tables that nobody looks at.
struct NoTables;

impl PageTables for NoTables {
    fn set(&mut self, _: usize, _: u64, _: ByteSize, _: Backing, _: Rights) {}

    fn clear(&mut self, _: usize, _: u64, _: ByteSize) {}
}

impl Bench {
    /// A process that has called `cuInit`, with a context of device 0 current.
    pub fn new() -> Self {
        let profile = Profile::named("h200-x2").unwrap();
        let mut machine = Machine::new(profile.clone(), Policy::Measured);
        let options = ProcessOptions {
            policy: Policy::Measured,
            grace: Grace::Never,
            window_base: 1 << 40,
            window_bytes: 1 << 36,
            node: 0,
        };
        let process = Process::new(machine.connect(None), Arc::new(profile), vec![0, 1], options);
        let mut bench = Self { machine, process };
        bench.call(Call::cuInit, |process, _| process.init(0)).unwrap();
        bench.call(Call::cuCtxCreate, |process, outside| process.ctx_create(outside, THREAD, 0, Device(0))).unwrap();
        bench
    }

    /// Makes a call.
    pub fn call<T>(&mut self, call: Call, f: impl FnOnce(&mut Process, &mut Outside<'_>) -> Result<T>) -> Result<T> {
        self.process.enter(call)?;
        self.within(f)
    }

    /// Does something that is no call of its own.
    pub fn within<T>(&mut self, f: impl FnOnce(&mut Process, &mut Outside<'_>) -> T) -> T {
        let mut link = Direct { machine: &mut self.machine, process: self.process.id() };
        f(&mut self.process, &mut Outside { machine: &mut link, tables: &mut NoTables })
    }

    pub fn create(&mut self, size: ByteSize) -> MemHandle {
        let prop = AllocationProp::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR);
        handle(self.call(Call::cuMemCreate, |process, out| process.mem_create(out, size, &prop, 0)).unwrap())
    }

    pub fn reserve(&mut self, size: ByteSize) -> DevicePtr {
        self.call(Call::cuMemAddressReserve, |process, _| {
            process.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0)
        })
        .unwrap()
    }

    pub fn map(&mut self, ptr: DevicePtr, size: ByteSize, handle: MemHandle) -> Result<()> {
        self.call(Call::cuMemMap, |process, outside| process.mem_map(outside, ptr, size, ByteSize::ZERO, handle, 0))
    }

    pub fn unmap(&mut self, ptr: DevicePtr) -> Result<()> {
        self.call(Call::cuMemUnmap, |process, out| process.mem_unmap(out, ptr, GRANULE))
    }

    pub fn context(&self) -> Context {
        // SAFETY: the model follows no handle; the number is one that it handed out.
        unsafe { Context::from_raw(self.process.ctx_get_current(THREAD).unwrap()) }
    }

    pub fn stream(&mut self) -> Stream {
        let raw =
            self.call(Call::cuStreamCreate, |process, outside| process.stream_create(outside, THREAD, 1)).unwrap();
        // SAFETY: as above.
        unsafe { Stream::from_raw(raw) }
    }

    pub fn event(&mut self, flags: u32) -> Event {
        let raw = self.call(Call::cuEventCreate, |process, _| process.event_create(THREAD, flags)).unwrap();
        // SAFETY: as above.
        unsafe { Event::from_raw(raw) }
    }

    /// The next item that is to run, if there is one that nobody runs yet.
    pub fn begin(&mut self) -> Work {
        let mut plan = self.process.plan(&Wait::Everything);
        self.process.next_work(&mut plan).expect("nobody else runs it").expect("something is queued")
    }

    pub fn finish(&mut self, work: &Work, outcome: Outcome) {
        self.within(|process, out| process.finish_work(out, work.id, outcome)).unwrap();
    }

    /// Runs whatever is queued.
    pub fn drain(&mut self) {
        while self.process.has_work() {
            let work = self.begin();
            self.finish(&work, Ok(1));
        }
    }
}

pub fn handle(raw: u64) -> MemHandle {
    // SAFETY: the model follows no handle.
    unsafe { MemHandle::from_raw(raw) }
}
