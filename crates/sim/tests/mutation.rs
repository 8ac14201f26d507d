//! Every rule matters: with any one of them switched off, a recording or a call written for it notices.
//!
//! One test in a binary of its own, because switching a rule off concerns the whole OS process; and in its first thread, because
//! only a process of one thread is forked.

#[path = "support/recordings.rs"]
mod recordings;
#[path = "support/registers.rs"]
mod registers;

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

use peermap_driver::{
    AllocationProp, ByteSize, Context, CuResult, Device, DeviceAttribute, DevicePtr, Dim3, Driver, DriverError, Event,
    FabricHandle, Function, FunctionAttribute, GranularityOption, HandleType, HostAccess, HostPtr, IpcEventHandle,
    IpcMemHandle, JitOptions, LaunchConfig, Location, MemHandle, MemPoolProps, Module, MulticastObjectProp, OsHandle,
    PointerAttribute, Result, RuleId, ShareableHandle, Stream, Win32Handle,
};
use peermap_ipc::{Exit, forked};
use peermap_model::{Evidence, Rule, rules};
use peermap_sim::{SimMachine, SimProcess};
use peermap_testing::{Arguments, Trial};
use peermap_trace::{End, Player, Processes, StartError, Trace};

use recordings::recordings;
use registers::a_kernel_of_registers;

/// Processes of one machine, and the misuses of those that have ended.
struct Kept {
    machine: SimMachine,
    processes: HashMap<u32, SimProcess>,
    misuses: Vec<RuleId>,
}

impl Processes for Kept {
    fn start(&mut self, number: u32) -> std::result::Result<Box<dyn Driver>, StartError> {
        let process = self.machine.process()?;
        self.processes.insert(number, process.clone());
        Ok(Box::new(process))
    }

    fn end(&mut self, number: u32, driver: Box<dyn Driver>, _how: End) {
        drop(driver);
        // The process ends with the last value of it.
        let ended = self.processes.remove(&number).expect("a process ends once");
        self.misuses.extend(ended.misuses().iter().map(|misuse| misuse.rule));
    }
}

/// Whether a trace is played as recorded, and notes the misuse if the rule is about an acceptance.
fn as_recorded(trace: &Trace, rule: &Rule) -> bool {
    let mut kept =
        Kept { machine: SimMachine::named("h200-x2").unwrap(), processes: HashMap::new(), misuses: Vec::new() };
    let matched = Player::play(trace, &mut kept).is_match();
    let about_acceptance = rule.result.is_success() && !rule.crashes() && !rule.hangs();
    let running = kept.processes.values().flat_map(SimProcess::misuses).map(|misuse| misuse.rule);
    let noted = running.chain(kept.misuses).any(|noted| noted == rule.id);
    matched && (noted || !about_acceptance)
}

fn process(profile: &str) -> SimProcess {
    let process = SimMachine::named(profile).unwrap().process().unwrap();
    process.init(0).unwrap();
    process
}

fn with_context() -> SimProcess {
    let process = process("h200-x2");
    process.ctx_create(0, Device(0)).unwrap();
    process
}

/// A process that has taken all of device 0 but less than 2 MiB.
fn filled(process: SimProcess) -> SimProcess {
    let prop = AllocationProp::pinned_on(0, HandleType::NONE);
    while process.mem_create(ByteSize::gib(1), &prop, 0).is_ok() {}
    while process.mem_create(ByteSize::mib(2), &prop, 0).is_ok() {}
    process
}

const KERNELS: &str = include_str!("../../../kernels/memmap_ipc.ptx");

fn with_kernel() -> (SimProcess, Module, Function) {
    let process = with_context();
    let module = process.module_load_data_ex(KERNELS.as_bytes(), &mut JitOptions::default()).unwrap();
    let function = process.module_get_function(module, "fill_byte").unwrap();
    (process, module, function)
}

fn launch(grid: Dim3, block: Dim3, shared: ByteSize) -> Result<()> {
    let (process, _, function) = with_kernel();
    let config = LaunchConfig { function, grid, block, shared_bytes: shared, stream: Stream::NULL };
    let args = [peermap_driver::KernelArg::U64(0), peermap_driver::KernelArg::U64(0), peermap_driver::KernelArg::U8(0)];
    // SAFETY: the simulator checks arguments against the kernel's parameters.
    unsafe { process.launch_kernel(&config, &args) }
}

/// A launch of a kernel `greedy` of one's own, with blocks of so many threads.
fn launch_of(entry: &str, block: u32) -> Result<()> {
    let process = with_context();
    let text = format!(".version 8.0\n.target sm_90\n.address_size 64\n{entry}");
    let module = process.module_load_data_ex(text.as_bytes(), &mut JitOptions::default())?;
    let function = process.module_get_function(module, "greedy")?;
    let (grid, block) = (Dim3::x(1), Dim3::x(block));
    let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream: Stream::NULL };
    // SAFETY: the simulator checks arguments against the kernel's parameters.
    unsafe { process.launch_kernel(&config, &[peermap_driver::KernelArg::U64(0)]) }
}

fn load(image: &str) -> Result<()> {
    with_context().module_load_data_ex(image.as_bytes(), &mut JitOptions::default()).map(|_| ())
}

/// A handle of a number that no driver gave out.
fn made_up<H>(from_raw: unsafe fn(u64) -> H) -> H {
    // SAFETY: only the simulator gets it, which answers for every number.
    unsafe { from_raw(0xdead_0000) }
}

fn destroyed_elsewhere() -> Result<()> {
    let process = process("h200-x2");
    let (one, other) = (process.thread(1), process.thread(2));
    let context = one.ctx_create(0, Device(0))?;
    other.ctx_push_current(context)?;
    one.ctx_destroy(context)?;
    other.ctx_synchronize()
}

fn a_ninth_peer() -> Result<()> {
    let process = process("peers-8");
    let contexts: Vec<Context> =
        (0..10).map(|ordinal| process.ctx_create(0, Device(ordinal))).collect::<Result<_>>()?;
    contexts[..9].iter().try_for_each(|peer| process.ctx_enable_peer_access(*peer, 0))
}

/// A process in a context of its own, another one, its memory and the handle of that.
fn owner_and_opener() -> Result<(SimProcess, DevicePtr, SimProcess, IpcMemHandle)> {
    let machine = SimMachine::named("h200-x2").unwrap();
    let (owner, opener) = (machine.process().unwrap(), machine.process().unwrap());
    owner.init(0)?;
    opener.init(0)?;
    owner.ctx_create(0, Device(0))?;
    let memory = owner.mem_alloc(ByteSize::mib(2))?;
    let handle = owner.ipc_get_mem_handle(memory)?;
    opener.ctx_create(0, Device(0))?;
    Ok((owner, memory, opener, handle))
}

/// What a driver answers in a fork of the process that opened it.
fn ask_in_a_fork() -> Result<()> {
    let process = process("h200-x2");
    // A code of all ones, for a rule that is off, is another number as an exit code.
    let code = |error: DriverError| error.result().map_or(255, |result| result.code() as i32 & 0x7f);
    match forked(|| process.device_get_count().map_or_else(code, |_| 0)).unwrap() {
        Exit::Code(0) => Ok(()),
        ended => Err(DriverError::refused(CuResult::new(match ended {
            Exit::Code(code) | Exit::Signal(code) => code.cast_unsigned(),
        }))),
    }
}

/// The owner frees what another process has open: success, and a misuse.
fn free_what_is_open() -> Result<()> {
    let (owner, memory, opener, handle) = owner_and_opener()?;
    opener.ipc_open_mem_handle(&handle, 1)?;
    owner.mem_free(memory)?;
    let noted = owner.misuses().iter().any(|misuse| misuse.rule == rules::ALLOC_4.id);
    if noted { Err(DriverError::refused(CuResult::SUCCESS)) } else { Ok(()) }
}

/// The owner of a pool frees what another process has imported: success, and a misuse.
fn free_what_is_imported() -> Result<()> {
    let (owner, _memory, importer, _handle) = owner_and_opener()?;
    let pool = owner.mem_pool_create(&MemPoolProps::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR))?;
    let exported = owner.mem_pool_export_to_shareable_handle(pool, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
    let ShareableHandle::PosixFd(descriptor) = exported else { panic!("it is no descriptor") };
    let from = OsHandle::Fd(std::os::fd::AsFd::as_fd(&descriptor));
    let there = importer.mem_pool_import_from_shareable_handle(from, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
    let ptr = owner.mem_alloc_from_pool_async(PIECE, pool, Stream::NULL)?;
    importer.mem_pool_import_pointer(there, &owner.mem_pool_export_pointer(ptr)?)?;
    owner.mem_free_async(ptr, Stream::NULL)?;
    let noted = owner.misuses().iter().any(|misuse| misuse.rule == rules::POOL_28.id);
    if noted { Err(DriverError::refused(CuResult::SUCCESS)) } else { Ok(()) }
}

/// A process ends before its work: success, and a misuse that its machine knows.
fn end_before_the_work() -> Result<()> {
    let machine = SimMachine::named("h200-x2").unwrap();
    let process = machine.process().unwrap();
    process.init(0)?;
    process.ctx_create(0, Device(0))?;
    let memory = process.mem_alloc(PIECE)?;
    process.memset_d8_async(memory, 7, PIECE, Stream::NULL)?;
    drop(process);
    let noted = machine.account()?.misuses.iter().any(|misuse| misuse.rule == rules::EXIT_1.id.0);
    if noted { Err(DriverError::refused(CuResult::SUCCESS)) } else { Ok(()) }
}

fn open_in_a_second_context() -> Result<()> {
    let (_owner, _memory, opener, handle) = owner_and_opener()?;
    opener.ipc_open_mem_handle(&handle, 1)?;
    opener.ctx_create(0, Device(0))?;
    opener.ipc_open_mem_handle(&handle, 1).map(|_| ())
}

fn open_with_no_addresses_left() -> Result<()> {
    let (_owner, _memory, opener, handle) = owner_and_opener()?;
    for shift in (21..44).rev() {
        let piece = ByteSize::new(1 << shift);
        while opener.mem_address_reserve(piece, ByteSize::ZERO, DevicePtr::NULL, 0).is_ok() {}
    }
    opener.ipc_open_mem_handle(&handle, 1).map(|_| ())
}

/// What a team of two devices of the default machine is.
const TEAM: MulticastObjectProp = MulticastObjectProp::team_of(2, ByteSize::mib(4), HandleType::POSIX_FILE_DESCRIPTOR);

const PIECE: ByteSize = ByteSize::mib(2);

/// A process whose calls do not wait for teams, with a team of two devices of which so many have been added, and memory of
/// the first with a handle of a type.
fn team_with(added: i32, types: HandleType) -> Result<(SimProcess, MemHandle, MemHandle)> {
    let process = process("default");
    process.wait_for_teams(std::time::Duration::ZERO);
    let team = process.multicast_create(&TEAM)?;
    (0..added).try_for_each(|device| process.multicast_add_device(team, Device(device)))?;
    let memory = process.mem_create(PIECE, &AllocationProp::pinned_on(0, types), 0)?;
    Ok((process, team, memory))
}

fn team(added: i32) -> Result<(SimProcess, MemHandle, MemHandle)> {
    team_with(added, HandleType::POSIX_FILE_DESCRIPTOR)
}

fn create_team(profile: &str, prop: MulticastObjectProp) -> Result<()> {
    process(profile).multicast_create(&prop).map(drop)
}

fn bind((process, team, memory): (SimProcess, MemHandle, MemHandle), offset: ByteSize, size: ByteSize) -> Result<()> {
    process.multicast_bind_mem(team, offset, memory, ByteSize::ZERO, size, 0)
}

fn add_from_another_node() -> Result<()> {
    let process = process("nvl72");
    let team = process.multicast_create(&TEAM)?;
    process.multicast_add_device(team, Device(0))?;
    process.multicast_add_device(team, Device(4))
}

fn bind_memory_of_a_stranger() -> Result<()> {
    let (process, team, _) = team(2)?;
    let memory = process.mem_create(PIECE, &AllocationProp::pinned_on(2, HandleType::POSIX_FILE_DESCRIPTOR), 0)?;
    bind((process, team, memory), ByteSize::ZERO, PIECE)
}

fn map_a_team_between_its_pieces() -> Result<()> {
    let process = process("wide-teams");
    let team = process.multicast_create(&MulticastObjectProp::team_of(1, ByteSize::mib(8), HandleType::NONE))?;
    process.multicast_add_device(team, Device(0))?;
    let ptr = process.mem_address_reserve(ByteSize::mib(32), ByteSize::mib(8), DevicePtr::NULL, 0)?;
    process.mem_map(ptr.checked_add(PIECE).unwrap(), ByteSize::mib(8), ByteSize::ZERO, team, 0)
}

/// A process of a node of `islands` imports what one of node 0 exported.
fn import_on(node: u16) -> Result<()> {
    let machine = SimMachine::named("islands").unwrap();
    let (exporter, importer) = (machine.process_on(0).unwrap(), machine.process_on(node).unwrap());
    exporter.init(0)?;
    importer.init(0)?;
    let memory = exporter.mem_create(ByteSize::mib(2), &AllocationProp::pinned_on(0, HandleType::FABRIC), 0)?;
    let exported = exporter.mem_export_to_shareable_handle(memory, HandleType::FABRIC, 0)?;
    importer.mem_import_from_shareable_handle(exported.as_os_handle(), HandleType::FABRIC).map(drop)
}

fn create_under_windows(handle_type: HandleType) -> Result<()> {
    process("windows").mem_create(ByteSize::mib(2), &AllocationProp::pinned_on(0, handle_type), 0).map(drop)
}

/// A call that breaks a rule.
type Breaks = (&'static Rule, fn() -> Result<()>);

/// Calls for the rules that no recording reaches.
fn calls() -> Vec<Breaks> {
    vec![
        (&rules::INIT_3, || SimMachine::named("h200-x2").unwrap().process_seeing(Some("")).unwrap().init(0)),
        (&rules::INIT_4, ask_in_a_fork),
        (&rules::DEVICE_2, || {
            process("h200-x2").device_get_attribute(DeviceAttribute::new(99_999), Device(0)).map(|_| ())
        }),
        (&rules::CTX_2, || process("h200-x2").ctx_set_current(Some(made_up(Context::from_raw)))),
        (&rules::CTX_3, destroyed_elsewhere),
        (&rules::CTX_4, || filled(process("h200-x2")).ctx_create(0, Device(0)).map(|_| ())),
        (&rules::STREAM_4, || filled(with_context()).stream_create(0).map(|_| ())),
        (&rules::PEER_4, a_ninth_peer),
        (&rules::STREAM_2, || with_context().stream_synchronize(made_up(Stream::from_raw))),
        (&rules::EVENT_2, || with_context().event_query(made_up(Event::from_raw))),
        (&rules::EVENT_7, || with_context().ipc_open_event_handle(&IpcEventHandle([7; 64])).map(|_| ())),
        (&rules::MODULE_1, || load(".version 8.0\n.target sm_100\n.address_size 64\n.entry e() { ret; }\n")),
        (&rules::MODULE_2, || load(".version 9.1\n.target sm_90\n.address_size 64\n.entry e() { ret; }\n")),
        (&rules::MODULE_3, || load("hello world")),
        (&rules::MODULE_4, || with_context().module_get_function(made_up(Module::from_raw), "fill").map(|_| ())),
        (&rules::MODULE_5, || {
            let (process, module, _) = with_kernel();
            process.module_get_function(module, "no_such_entry").map(|_| ())
        }),
        (&rules::MODULE_6, || {
            let (process, _, function) = with_kernel();
            process.func_get_attribute(FunctionAttribute::new(99), function).map(|_| ())
        }),
        (&rules::MODULE_7, || {
            let (process, module, _) = with_kernel();
            process.module_get_global(module, "no_such_variable").map(|_| ())
        }),
        (&rules::LAUNCH_1, || launch(Dim3::x(1), Dim3::x(1025), ByteSize::ZERO)),
        (&rules::LAUNCH_2, || launch(Dim3 { x: 1, y: 65_536, z: 1 }, Dim3::x(1), ByteSize::ZERO)),
        (&rules::LAUNCH_3, || launch(Dim3::x(1), Dim3::x(1), ByteSize::mib(1))),
        (&rules::LAUNCH_4, || launch_of(&a_kernel_of_registers(100), 1024)),
        (&rules::LAUNCH_5, || launch_of(".entry greedy(.param .u64 p) .reqntid 64 { ret; }", 32)),
        (&rules::CREATE_11, || {
            let prop = AllocationProp::pinned_on(0, HandleType::FABRIC);
            process("no-fabric").mem_create(ByteSize::mib(2), &prop, 0).map(|_| ())
        }),
        (&rules::CREATE_12, || {
            let prop =
                AllocationProp { location: Location::host_numa(0), ..AllocationProp::pinned_on(0, HandleType::NONE) };
            process("no-host-numa").mem_create(ByteSize::mib(2), &prop, 0).map(|_| ())
        }),
        (&rules::CPU_1, || process("h200-x2").host_read(&mut [0], DevicePtr::new(1 << 40))),
        (&rules::EXPORT_4, || {
            let process = process("fabric-late");
            let memory = process.mem_create(PIECE, &AllocationProp::pinned_on(0, HandleType::FABRIC), 0)?;
            process.mem_export_to_shareable_handle(memory, HandleType::FABRIC, 0).map(drop)
        }),
        (&rules::ALLOC_4, free_what_is_open),
        (&rules::EXIT_1, end_before_the_work),
        (&rules::POOL_28, free_what_is_imported),
        (&rules::IMPORT_5, || {
            let handle = FabricHandle([7; 64]);
            let process = process("default");
            process.mem_import_from_shareable_handle(OsHandle::Fabric(&handle), HandleType::FABRIC).map(|_| ())
        }),
        (&rules::FABRIC_1, || import_on(2)),
        (&rules::FABRIC_2, || import_on(4)),
        (&rules::FABRIC_3, || import_on(5)),
        (&rules::WIN32_1, || create_under_windows(HandleType::POSIX_FILE_DESCRIPTOR)),
        (&rules::WIN32_2, || create_under_windows(HandleType::WIN32)),
        (&rules::WIN32_3, || {
            let handle = OsHandle::Win32(Win32Handle(4));
            process("windows").mem_import_from_shareable_handle(handle, HandleType::WIN32).map(drop)
        }),
        (&rules::POOL_26, || {
            let process = process("no-fabric");
            let pool = process.mem_pool_create(&MemPoolProps::pinned_on(0, HandleType::FABRIC))?;
            process.mem_pool_export_to_shareable_handle(pool, HandleType::FABRIC, 0).map(|_| ())
        }),
        (&rules::MULTICAST_1, || create_team("no-multicast", TEAM)),
        (&rules::MULTICAST_2, || create_team("default", MulticastObjectProp { flags: 1, ..TEAM })),
        (&rules::MULTICAST_3, || create_team("wide-teams", TEAM)),
        (&rules::MULTICAST_4, || {
            create_team("default", MulticastObjectProp { handle_types: HandleType::WIN32, ..TEAM })
        }),
        (&rules::MULTICAST_5, || {
            create_team("h200-x2", MulticastObjectProp { handle_types: HandleType::FABRIC, ..TEAM })
        }),
        (&rules::MULTICAST_6, || create_team("default", MulticastObjectProp { size: ByteSize::mib(1 << 30), ..TEAM })),
        (&rules::MULTICAST_7, || {
            let (process, _, memory) = team(2)?;
            process.multicast_add_device(memory, Device(1))
        }),
        (&rules::MULTICAST_8, || {
            let (process, team, _) = team(1)?;
            process.multicast_add_device(team, Device(99))
        }),
        (&rules::MULTICAST_9, || {
            let (process, team, _) = team(1)?;
            process.multicast_add_device(team, Device(0))
        }),
        (&rules::MULTICAST_10, add_from_another_node),
        (&rules::WAIT_1, || bind(team(1)?, ByteSize::ZERO, PIECE)),
        (&rules::MULTICAST_12, || {
            let (process, team, _) = team(2)?;
            bind((process, team, team), ByteSize::ZERO, PIECE)
        }),
        (&rules::MULTICAST_13, || {
            let (process, team, memory) = team(2)?;
            process.multicast_bind_mem(team, ByteSize::ZERO, memory, ByteSize::ZERO, PIECE, 1)
        }),
        (&rules::MULTICAST_14, || bind(team(2)?, ByteSize::new(4096), PIECE)),
        (&rules::MULTICAST_15, || bind(team(2)?, ByteSize::mib(4), PIECE)),
        (&rules::MULTICAST_16, bind_memory_of_a_stranger),
        (&rules::MULTICAST_17, || bind(team_with(2, HandleType::NONE)?, ByteSize::ZERO, PIECE)),
        (&rules::MULTICAST_18, || process("default").multicast_get_granularity(&TEAM, GranularityOption(2)).map(drop)),
        (&rules::MULTICAST_19, || {
            create_team("no-fabric", MulticastObjectProp { handle_types: HandleType::FABRIC, ..TEAM })
        }),
        (&rules::MAP_10, map_a_team_between_its_pieces),
        (&rules::LEGACY_4, || with_context().ipc_open_mem_handle(&IpcMemHandle([7; 64]), 1).map(|_| ())),
        (&rules::LEGACY_6, open_in_a_second_context),
        (&rules::LEGACY_8, open_with_no_addresses_left),
        (&rules::HOST_1, || with_context().mem_host_alloc(ByteSize::ZERO, 0).map(|_| ())),
        // SAFETY: nothing uses memory at a made-up address.
        (&rules::HOST_2, || unsafe { with_context().mem_free_host(made_up(HostPtr::from_raw)) }),
        (&rules::POINTER_2, || {
            let process = with_context();
            let address = process.mem_alloc(ByteSize::mib(2))?;
            process.pointer_get_attribute(PointerAttribute::new(999), address).map(|_| ())
        }),
        (&rules::ERROR_1, || process("h200-x2").get_error_name(CuResult::new(123_456)).map(|_| ())),
    ]
}

/// How many recordings and calls notice that the rule holds or does not.
fn witnesses(rule: &'static Rule, recordings: &BTreeMap<(String, String), Trace>, calls: &[Breaks]) -> usize {
    let named = rule.evidence.iter().filter_map(|evidence| match evidence {
        Evidence::Step(file, trace, _) => Some((file.to_string(), trace.to_string())),
        Evidence::Hardware(_) | Evidence::Report(_) | Evidence::Manual(_) => None,
    });
    let recorded = named.map(|key| &recordings[&key]).filter(|trace| as_recorded(trace, rule)).count();
    let is_answer = |error: &DriverError| match error {
        DriverError::WouldHang { explanation } => explanation.rule == rule.id,
        error => error.result() == Some(rule.result),
    };
    let answers = |call: fn() -> Result<()>| call().is_err_and(|error| is_answer(&error));
    recorded + calls.iter().filter(|(about, call)| about.id == rule.id && answers(*call)).count()
}

fn main() -> ExitCode {
    let trial = Trial::test("with_any_rule_switched_off_something_notices", || {
        with_any_rule_switched_off_something_notices();
        Ok(())
    });
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    peermap_testing::run(&arguments, vec![trial]).exit_code()
}

fn with_any_rule_switched_off_something_notices() {
    let (recordings, calls) = (recordings(), calls());
    for rule in rules::all() {
        let with = witnesses(rule, &recordings, &calls);
        rule.switch(false);
        let without = witnesses(rule, &recordings, &calls);
        rule.switch(true);
        assert!(with > 0, "{}: nothing reaches it", rule.id);
        assert!(without < with, "{}: nothing notices when it is off", rule.id);
    }
}
