//! What passes through a recorder is a trace that plays back.

#[expect(dead_code, reason = "each test uses a part")]
mod support;

use std::os::fd::AsFd;

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Call, Device, DevicePtr, Dim3, Driver, GranularityOption, HandleType,
    JitOptions, KernelArg, LaunchConfig, MemHandle, MulticastObjectProp, OsHandle, Result, ShareableHandle, Stream,
};
use peermap_sim::{SimMachine, SimProcess};
use peermap_trace::{
    Header, Machine, Needs, Outcome, Player, Processes, Recorder, Recording, StartError, StepCall, StepResult, Trace,
};
use support::read;

const SIZE: ByteSize = ByteSize::new(2 << 20);
const KERNELS: &str = include_str!("../../../fixtures/traces/kernels.ptx");

type Recorded<'t> = Recorder<SimProcess, &'t mut Vec<u8>>;

struct InOne(SimMachine);

impl Processes for InOne {
    fn start(&mut self, _process: u32) -> std::result::Result<Box<dyn Driver>, StartError> {
        Ok(Box::new(self.0.process()?))
    }
}

fn header() -> Header {
    let machine =
        Machine { gpus: 2, model: "simulated".to_owned(), driver: "none".to_owned(), cuda: 13000, link: None };
    Header { name: "recorded".to_owned(), about: String::new(), machine, needs: Needs { devices: 2 } }
}

fn machine() -> SimMachine {
    machine_of("h200-x2")
}

fn machine_of(profile: &str) -> SimMachine {
    SimMachine::named(profile).expect("the profile is there")
}

/// Records two processes of one machine, and plays what was recorded on another machine.
fn record(act: impl FnOnce(&Recorded<'_>, &Recorded<'_>)) -> (Trace, Outcome) {
    record_on("h200-x2", act)
}

fn record_on(profile: &str, act: impl FnOnce(&Recorded<'_>, &Recorded<'_>)) -> (Trace, Outcome) {
    let mut text = Vec::new();
    let recording = Recording::new(&mut text, &header()).expect("memory takes it");
    let machine = machine_of(profile);
    let process = || recording.process(machine.process().expect("the host backs it"));
    let (first, second) = (process(), process());
    act(&first, &second);
    drop((first, second));
    recording.flush().expect("memory takes it");
    drop(recording);
    let trace = read(std::str::from_utf8(&text).expect("it is text")).expect("it is a trace").remove(0);
    let outcome = Player::play(&trace, &mut InOne(machine_of(profile)));
    (trace, outcome)
}

fn assert_plays_back(outcome: &Outcome) {
    let shown: Vec<String> = outcome.mismatches.iter().map(ToString::to_string).collect();
    assert!(outcome.is_match(), "{shown:#?}");
}

fn map(driver: &dyn Driver, handle: MemHandle) -> Result<DevicePtr> {
    let start = driver.mem_address_reserve(SIZE, SIZE, DevicePtr::new(0), 0)?;
    driver.mem_map(start, SIZE, ByteSize::new(0), handle, 0)?;
    driver.mem_set_access(start, SIZE, &[AccessDesc::read_write(0)])?;
    Ok(start)
}

fn share(first: &Recorded<'_>, second: &Recorded<'_>) -> Result<()> {
    first.init(0)?;
    first.ctx_create(0, Device(0))?;
    let prop = AllocationProp::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR);
    assert_eq!(first.mem_get_allocation_granularity(&prop, GranularityOption::MINIMUM)?, SIZE);
    let handle = first.mem_create(SIZE, &prop, 0)?;
    let start = map(first, handle)?;
    first.memcpy_htod(start, &[[7; 4096], [8; 4096]].concat())?;
    let exported = first.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
    let exported = exported.into_posix_fd().expect("a descriptor was asked for");

    second.init(0)?;
    second.ctx_create(0, Device(0))?;
    let imported =
        second.mem_import_from_shareable_handle(exported.as_fd().into(), HandleType::POSIX_FILE_DESCRIPTOR)?;
    first.close(exported);
    let seen = map(second, imported)?;
    let mut bytes = [0; 10_000];
    second.memcpy_dtoh(&mut bytes, seen)?;
    assert_eq!((bytes[0], bytes[4096], bytes[8192]), (7, 8, 0));
    let retained = second.mem_retain_allocation_handle(seen)?;
    second.mem_release(retained)?;
    second.mem_get_info()?;
    first.mem_unmap(start, SIZE)?;
    first.mem_address_free(start, SIZE)?;
    first.mem_release(handle)
}

#[test]
fn two_processes_that_share_memory_play_back() {
    let (trace, outcome) = record(|first, second| share(first, second).expect("it is allowed"));
    assert_plays_back(&outcome);
    let calls: Vec<&str> = trace.steps.iter().map(|step| step.call.name()).collect();
    assert_eq!(calls.iter().filter(|call| **call == "send").count(), 1, "{calls:?}");
    assert_eq!(calls.iter().filter(|call| **call == "cuMemcpyHtoD").count(), 2, "{calls:?}");
    assert_eq!(calls.iter().filter(|call| **call == "exit").count(), 2, "{calls:?}");
}

#[test]
fn refusals_and_crashes_play_back() {
    let (trace, outcome) = record(|first, _| {
        first.init(0).expect("it starts");
        let prop = AllocationProp::pinned_on(0, HandleType::NONE);
        assert!(first.mem_create(ByteSize::new(4096), &prop, 0).is_err());
        assert!(first.mem_unmap(DevicePtr::new(0x1000), SIZE).is_err());
        let handle = first.mem_create(SIZE, &prop, 0).expect("it fits");
        first.mem_release(handle).expect("it is there");
        assert!(first.mem_get_allocation_properties_from_handle(handle).is_err());
        assert!(first.device_get_count().is_ok(), "the simulator goes on, the recording does not");
    });
    assert_plays_back(&outcome);
    let of_first: Vec<StepResult> =
        trace.steps.iter().filter(|step| step.process == 0).map(|step| step.result).collect();
    assert_eq!(of_first.last(), Some(&StepResult::SegmentationFault));
}

fn launch(driver: &dyn Driver, start: DevicePtr) -> Result<()> {
    let module = driver.module_load_data_ex(KERNELS.as_bytes(), &mut JitOptions::default())?;
    let function = driver.module_get_function(module, "fill")?;
    let (grid, block) = (Dim3::x(4), Dim3::x(64));
    let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::new(0), stream: Stream::NULL };
    let arguments = [KernelArg::Ptr(start), KernelArg::I32(5000), KernelArg::U8(9)];
    // SAFETY: "`args` must match the kernel's parameters in number and size": fill takes an address, an i32 and a u8.
    unsafe { driver.launch_kernel(&config, &arguments) }?;
    driver.ctx_synchronize()
}

#[test]
fn launches_of_the_known_kernels_and_legacy_handles_play_back() {
    let (trace, outcome) = record(|first, second| {
        first.init(0).expect("it starts");
        first.ctx_create(0, Device(0)).expect("there is a device");
        let start = first.mem_alloc(SIZE).expect("it fits");
        launch(first, start).expect("it runs");
        let handle = first.ipc_get_mem_handle(start).expect("it is such memory");
        second.init(0).expect("it starts");
        second.ctx_create(0, Device(0)).expect("there is a device");
        let seen = second.ipc_open_mem_handle(&handle, 1).expect("it opens");
        let mut bytes = [0; 5001];
        second.memcpy_dtoh(&mut bytes, seen).expect("it is readable");
        assert_eq!((bytes[4999], bytes[5000]), (9, 0));
        second.ipc_close_mem_handle(seen).expect("it is open");
    });
    assert_plays_back(&outcome);
    assert!(trace.steps.iter().any(|step| step.call.name() == "cuLaunchKernel"));
}

#[test]
fn calls_that_the_format_has_no_place_for_are_counted() {
    let mut text = Vec::new();
    let recording = Recording::new(&mut text, &header()).expect("memory takes it");
    let driver = recording.process(machine().process().expect("the host backs it"));
    driver.init(0).expect("it starts");
    driver.device_get_name(Device(0)).expect("there is a device");
    driver.device_get_name(Device(0)).expect("there is a device");
    assert_eq!(recording.omitted().into_iter().collect::<Vec<_>>(), [(Call::cuDeviceGetName, 2)]);
}

#[test]
fn fabric_handles_are_recorded_sent_and_played_as_bytes() {
    let (trace, outcome) = record_on("default", |first, second| {
        first.init(0).unwrap();
        second.init(0).unwrap();
        let handle = first.mem_create(SIZE, &AllocationProp::pinned_on(0, HandleType::FABRIC), 0).unwrap();
        let exported = first.mem_export_to_shareable_handle(handle, HandleType::FABRIC, 0).unwrap();
        let ShareableHandle::Fabric(name) = exported else { panic!("no fabric handle") };
        let open = || second.mem_import_from_shareable_handle(OsHandle::Fabric(&name), HandleType::FABRIC);
        map(second, open().unwrap()).unwrap();
        first.mem_release(handle).unwrap();
        open().unwrap_err();
    });
    assert_plays_back(&outcome);
    let calls = |call| trace.steps.iter().filter(|step| step.call == StepCall::from_name(call).unwrap()).count();
    assert_eq!([calls("send"), calls("cuMemImportFromShareableHandle")], [1, 2]);
}

/// A team of two devices that two processes share; each adds a device and binds its memory.
fn team(first: &Recorded<'_>, second: &Recorded<'_>) -> Result<()> {
    const TYPE: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;
    let prop = MulticastObjectProp::team_of(2, SIZE, TYPE);
    first.init(0)?;
    second.init(0)?;
    assert_eq!(first.multicast_get_granularity(&prop, GranularityOption::MINIMUM)?, SIZE);
    let ours = first.multicast_create(&prop)?;
    let exported = first.mem_export_to_shareable_handle(ours, TYPE, 0)?.into_posix_fd().expect("a descriptor");
    let theirs = second.mem_import_from_shareable_handle(exported.as_fd().into(), TYPE)?;
    first.multicast_add_device(ours, Device(0))?;
    second.multicast_add_device(theirs, Device(1))?;
    assert!(second.multicast_add_device(theirs, Device(1)).is_err());
    let memory = first.mem_create(SIZE, &AllocationProp::pinned_on(0, TYPE), 0)?;
    first.multicast_bind_mem(ours, ByteSize::ZERO, memory, ByteSize::ZERO, SIZE, 0)?;
    let memory = second.mem_create(SIZE, &AllocationProp::pinned_on(1, TYPE), 0)?;
    let address = map(second, memory)?;
    second.multicast_bind_addr(theirs, ByteSize::ZERO, address, SIZE, 0)?;
    map(first, ours)?;
    second.multicast_unbind(theirs, Device(1), ByteSize::ZERO, SIZE)
}

#[test]
fn a_team_of_two_processes_plays_back() {
    let (trace, outcome) = record(|first, second| team(first, second).expect("the simulator does all of it"));
    assert_plays_back(&outcome);
    let made = |name: &str| trace.steps.iter().filter(|step| step.call.name() == name).count();
    let calls = ["Create", "AddDevice", "BindMem", "BindAddr", "Unbind", "GetGranularity"];
    assert_eq!(calls.map(|call| made(&format!("cuMulticast{call}"))), [1, 3, 1, 1, 1, 1]);
}
