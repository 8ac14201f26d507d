//! Modules, kernels and launches.

use peermap_driver::{
    ByteSize, CuResult, Dim3, Driver, Function, FunctionAttribute, JitLog, JitOptions, KernelArg, LaunchConfig, Module,
    Result, Stream,
};

use crate::rig::{Allocated, Current, GRANULE, Mapped, at, driver, read, refused};

const KERNELS: &str = include_str!("../../../../kernels/memmap_ipc.ptx");

/// What a check finds: how many bytes are wrong, and the offset of the first.
const ALL_WELL: [u64; 2] = [0, u64::MAX];

/// The kernels, unloaded when dropped. The context must outlive them.
struct Kernels(Module);

impl Kernels {
    fn load() -> Self {
        let mut options = JitOptions::sample();
        let module = driver().module_load_data_ex(KERNELS.as_bytes(), &mut options);
        Self(module.unwrap_or_else(|error| panic!("{error}: {:?}", options.error_log)))
    }

    fn function(&self, name: &str) -> Function {
        driver().module_get_function(self.0, name).expect("an entry of the kernels")
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        let unloaded = driver().module_unload(self.0);
        assert!(unloaded.is_ok() || std::thread::panicking(), "{unloaded:?}");
    }
}

const fn shape(function: Function, block: u32) -> LaunchConfig {
    let (grid, block) = (Dim3::x(64), Dim3::x(block));
    LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream: Stream::NULL }
}

fn fill(function: Function, memory: &Mapped, value: u8) {
    let args = [KernelArg::Ptr(memory.ptr), KernelArg::U64(GRANULE.get()), KernelArg::U8(value)];
    // SAFETY: these are the parameters of the `fill` entries in number and size.
    assert_eq!(unsafe { driver().launch_kernel(&shape(function, 256), &args) }, Ok(()));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
}

fn verify(function: Function, memory: &Mapped, value: u8) -> [u64; 2] {
    let result = Allocated::new(ByteSize::new(16));
    let start: Vec<u8> = ALL_WELL.into_iter().flat_map(u64::to_ne_bytes).collect();
    assert_eq!(driver().memcpy_htod(result.0, &start), Ok(()));
    let args =
        [KernelArg::Ptr(memory.ptr), KernelArg::U64(GRANULE.get()), KernelArg::U8(value), KernelArg::Ptr(result.0)];
    // SAFETY: these are the parameters of `verify_id` in number and size.
    assert_eq!(unsafe { driver().launch_kernel(&shape(function, 256), &args) }, Ok(()));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
    let words: Vec<u64> = read(result.0, ByteSize::new(16))
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes")))
        .collect();
    [words[0], words[1]]
}

pub fn kernels_fill_and_verify() {
    let _context = Current::new();
    let kernels = Kernels::load();
    let check = kernels.function("verify_id");
    let memory = Mapped::new(GRANULE);

    fill(kernels.function("fill_id"), &memory, 9);
    assert_eq!(verify(check, &memory, 9), ALL_WELL);
    assert_eq!(verify(check, &memory, 8), [GRANULE.get(), 0]);
    assert_eq!(driver().memset_d8(at(memory.ptr, 12_345), 1, ByteSize::new(2)), Ok(()));
    assert_eq!(verify(check, &memory, 9), [2, 12_345]);

    fill(kernels.function("fill_byte"), &memory, 200);
    assert_eq!(verify(check, &memory, 200), ALL_WELL);
}

pub fn a_kernel_knows_what_it_needs() {
    let _context = Current::new();
    let kernels = Kernels::load();
    let function = kernels.function("fill_id");
    let registers = driver().func_get_attribute(FunctionAttribute::NUM_REGS, function).expect("a number");
    assert!((1..=32).contains(&registers), "{registers} registers, where at most 32 were allowed");
    let threads = driver().func_get_attribute(FunctionAttribute::MAX_THREADS_PER_BLOCK, function);
    assert_eq!(threads, Ok(1024));
    let occupancy = |block| driver().occupancy_max_active_blocks_per_multiprocessor(function, block, ByteSize::ZERO);
    assert!(occupancy(256).expect("a number of blocks") >= 1);
    assert_eq!(occupancy(0), refused(CuResult::INVALID_VALUE));
    assert_eq!(occupancy(1025), Ok(0));
}

pub fn a_kernel_knows_what_it_was_written_for() {
    let _context = Current::new();
    let (answer, log) = load(&with_kernels_of_all_shapes());
    let kernels = Kernels(answer.unwrap_or_else(|error| panic!("{error}: {log}")));
    let attribute = |name, attribute| driver().func_get_attribute(attribute, kernels.function(name));
    assert_eq!(attribute("square", FunctionAttribute::PTX_VERSION), Ok(75));
    assert_eq!(attribute("square", FunctionAttribute::MAX_THREADS_PER_BLOCK), Ok(1024));
    assert_eq!(attribute("small", FunctionAttribute::MAX_THREADS_PER_BLOCK), Ok(64));
    assert_eq!(attribute("greedy", FunctionAttribute::MAX_THREADS_PER_BLOCK), Ok(512));
    assert_eq!(attribute("roomy", FunctionAttribute::SHARED_SIZE_BYTES), Ok(60_000));
}

fn load(image: &str) -> (Result<Module>, String) {
    let mut options = JitOptions { error_log: Some(JitLog::with_capacity(4096)), ..JitOptions::default() };
    let answer = driver().module_load_data_ex(image.as_bytes(), &mut options);
    (answer, options.error_log.map(|log| log.text().to_owned()).unwrap_or_default())
}

pub fn broken_ptx_is_refused_and_the_log_says_why() {
    let _context = Current::new();
    let image = ".version 4.0\n.target sm_32\n.address_size 64\n.visible .entry broken()\n{\n\tnonsense.u32 %r1;\n}\n";
    let (answer, log) = load(image);
    assert_eq!(answer, refused(CuResult::INVALID_PTX));
    assert!(log.contains("nonsense") || log.contains("line 6"), "{log:?}");
}

pub fn ptx_of_a_later_version_is_refused() {
    let _context = Current::new();
    let (answer, _) = load(".version 99.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n\tret;\n}\n");
    assert_eq!(answer, refused(CuResult::UNSUPPORTED_PTX_VERSION));
}

pub fn ptx_for_a_later_device_is_refused() {
    let _context = Current::new();
    let (answer, log) = load(".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry empty()\n{\n\tret;\n}\n");
    assert_eq!(answer, refused(CuResult::INVALID_PTX));
    assert!(log.contains("SM version"), "{log:?}");
}

pub fn what_is_no_code_is_refused() {
    let _context = Current::new();
    for image in ["", "hello world", "// a comment\n", ".target sm_75\n.address_size 64\n.entry empty() { ret; }\n"] {
        let (answer, log) = load(image);
        assert_eq!(answer, refused(CuResult::INVALID_IMAGE), "{image:?}");
        assert_eq!(log, "error   : Binary format for key='0', ident='' is not recognized", "{image:?}");
    }
}

pub fn a_function_that_nobody_has_is_refused() {
    let _context = Current::new();
    let (answer, log) = load(
        ".version 7.0\n.target sm_50\n.address_size 64\n.extern .func f;\n.visible .entry e()\n{\n\tcall f;\n\tret;\n}\n",
    );
    assert_eq!(answer, refused(CuResult::INVALID_PTX));
    assert_eq!(log, "ptxas fatal   : Unresolved extern function 'f'");
}

pub fn the_compiler_tells_more_when_it_is_asked_to() {
    let _context = Current::new();
    let told = |verbose| {
        // Of a text that it has compiled before the driver tells nothing.
        let text = format!("{KERNELS}\n// {} {verbose}\n", std::process::id());
        let mut options = JitOptions { verbose, ..JitOptions::sample() };
        let module = driver().module_load_data_ex(text.as_bytes(), &mut options).expect("kernels");
        assert_eq!(driver().module_unload(module), Ok(()));
        options.info_log.expect("it was asked for").text().to_owned()
    };
    assert_eq!(told(false), "");
    let all = told(true);
    assert!(
        all.starts_with("ptxas info    : Overriding maximum register limit 256 for 'verify_pattern' with  32"),
        "{all}"
    );
}

pub fn an_entry_that_is_not_there_is_not_found() {
    let _context = Current::new();
    let kernels = Kernels::load();
    for name in ["no_such_entry", "fill_id\0"] {
        assert_eq!(driver().module_get_function(kernels.0, name), refused(CuResult::NOT_FOUND), "{name:?}");
    }
}

pub fn the_host_finds_the_variables_of_a_module() {
    let _context = Current::new();
    let (answer, log) = load(
        ".version 7.0\n.target sm_50\n.address_size 64\n.visible .const .u32 step = 3;
.visible .global .align 4 .u32 sums[2] = {10, 20};\n.visible .entry empty()\n{\n\tret;\n}\n",
    );
    let module = Kernels(answer.unwrap_or_else(|error| panic!("{error}: {log}")));
    let (sums, size) = driver().module_get_global(module.0, "sums").expect("a variable");
    assert_eq!((size, read(sums, size)), (ByteSize::new(8), vec![10, 0, 0, 0, 20, 0, 0, 0]));
    let (step, size) = driver().module_get_global(module.0, "step").expect("a constant");
    assert_eq!((size, read(step, size)), (ByteSize::new(4), vec![3, 0, 0, 0]));
    assert_eq!(driver().module_get_global(module.0, "count"), refused(CuResult::NOT_FOUND));
    assert_eq!(driver().mem_free(sums), refused(CuResult::INVALID_VALUE));
}

/// HARDWARE.md, rule 21.
pub fn launches_that_the_driver_refuses() {
    let _context = Current::new();
    let kernels = Kernels::load();
    let memory = Mapped::new(GRANULE);
    let function = kernels.function("fill_byte");
    let args = [KernelArg::Ptr(memory.ptr), KernelArg::U64(GRANULE.get()), KernelArg::U8(1)];
    let too_much_shared = LaunchConfig { shared_bytes: ByteSize::gib(4), ..shape(function, 256) };
    for config in [shape(function, 0), shape(function, 1025), too_much_shared] {
        // SAFETY: these are the parameters of `fill_byte` in number and size.
        let answer = unsafe { driver().launch_kernel(&config, &args) };
        assert_eq!(answer, refused(CuResult::INVALID_VALUE), "{config:?}");
    }
    let (answer, log) = load(&with_kernels_of_all_shapes());
    let others = Kernels(answer.unwrap_or_else(|error| panic!("{error}: {log}")));
    let answer = |name, shape| {
        let config = LaunchConfig { grid: Dim3::x(1), block: shape, ..self::shape(others.function(name), 1) };
        // SAFETY: each of the kernels has one pointer.
        unsafe { driver().launch_kernel(&config, &[KernelArg::Ptr(memory.ptr)]) }
    };
    assert_eq!(answer("square", Dim3 { x: 8, y: 8, z: 1 }), Ok(()));
    assert_eq!(answer("square", Dim3::x(64)), refused(CuResult::INVALID_VALUE));
    assert_eq!(answer("square", Dim3::x(32)), refused(CuResult::INVALID_VALUE));
    assert_eq!(answer("small", Dim3::x(65)), refused(CuResult::INVALID_VALUE));
    assert_eq!(answer("greedy", Dim3::x(512)), Ok(()));
    assert_eq!(answer("greedy", Dim3::x(1024)), refused(CuResult::LAUNCH_OUT_OF_RESOURCES));
    // More than the 48 KiB that a kernel may ask for in its launch.
    assert_eq!(answer("roomy", Dim3::x(32)), Ok(()));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
}

/// Kernels that require a shape, allow few threads, keep many numbers at once, or have much shared memory.
fn with_kernels_of_all_shapes() -> String {
    let each = |statement: &dyn Fn(u32) -> String| (0..100).map(statement).collect::<String>();
    let loads = each(&|n| format!("ld.volatile.global.u32 %r{n}, [%d+{}];\n", 4 * n));
    let stores = each(&|n| format!("st.volatile.global.u32 [%d+{}], %r{n};\n", 4 * n));
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n
.entry square(.param .u64 p) .reqntid 8, 8 {{ ret; }}
.entry small(.param .u64 p) .maxntid 8, 8 {{ ret; }}
.entry greedy(.param .u64 p) {{ .reg .u64 %d; .reg .u32 %r<100>;\nld.param.u64 %d, [p];\n{loads}{stores}ret; }}
.entry roomy(.param .u64 p) {{ .shared .align 4 .b8 tile[60000]; .reg .u32 %r;
st.shared.u32 [tile+4], 3; bar.sync 0; ld.volatile.shared.u32 %r, [tile+4]; ret; }}"
    )
}
