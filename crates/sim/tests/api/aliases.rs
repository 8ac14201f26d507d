//! The check of aliases across launches that are under way together.

use peermap_driver::{
    ByteSize, DevicePtr, Dim3, Driver, DriverError, Function, JitOptions, KernelArg, LaunchConfig, Stream,
};
use peermap_model::Profile;
use peermap_sim::{Check, Checks, MachineOptions, SimMachine, SimProcess};

use crate::support::{GRANULE, in_context, map, mapped};

const NON_BLOCKING: u32 = 1;

/// `store` writes the first word of `a`; `load` waits until the word at `go` is not zero, and reads the first of `b`.
fn text(fence: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry store(.param .u64 a) {{ .reg .u64 %a; ld.param.u64 %a, [a]; st.global.u32 [%a], 7; ret; }}
.visible .entry load(.param .u64 go, .param .u64 b) {{
.reg .u64 %go, %b; .reg .u32 %x; .reg .pred %p;
ld.param.u64 %go, [go]; ld.param.u64 %b, [b];
AGAIN: ld.acquire.sys.global.u32 %x, [%go]; setp.eq.u32 %p, %x, 0; @%p bra AGAIN;
{fence}
ld.global.u32 %x, [%b]; ret; }}"
    )
}

/// One memory at two addresses, a word to wait for, and two streams.
struct Scene {
    process: SimProcess,
    kernels: [Function; 2],
    a: DevicePtr,
    b: DevicePtr,
    go: DevicePtr,
    reader: Stream,
    writer: Stream,
}

impl Scene {
    fn new(fence: &str) -> Self {
        let options = MachineOptions { checks: Checks::NONE.with(Check::Aliases), ..MachineOptions::default() };
        let process = in_context(&SimMachine::new(Profile::named("h200-x2").unwrap(), options).unwrap());
        let module = process.module_load_data_ex(text(fence).as_bytes(), &mut JitOptions::default()).unwrap();
        let kernels = ["store", "load"].map(|name| process.module_get_function(module, name).unwrap());
        let (handle, a) = mapped(&process, GRANULE);
        let (b, go) = (map(&process, handle, GRANULE), mapped(&process, GRANULE).1);
        let [reader, writer] = [0; 2].map(|_| process.stream_create(NON_BLOCKING).unwrap());
        Self { process, kernels, a, b, go, reader, writer }
    }

    fn launch(&self, function: Function, stream: Stream, pointers: &[DevicePtr]) {
        let (grid, block) = (Dim3::x(1), Dim3::x(1));
        let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream };
        let args: Vec<_> = pointers.iter().map(|ptr| KernelArg::Ptr(*ptr)).collect();
        // SAFETY: "args must match the kernel's parameters in number and size": all are pointers, as many as it has.
        unsafe { self.process.launch_kernel(&config, &args) }.unwrap();
    }

    fn load(&self, from: DevicePtr) {
        self.launch(self.kernels[1], self.reader, &[self.go, from]);
    }

    fn store(&self, to: DevicePtr) {
        self.launch(self.kernels[0], self.writer, &[to]);
    }

    fn go(&self) {
        self.process.memset_d8_async(self.go, 1, ByteSize::new(4), self.writer).unwrap();
    }

    /// What comes of the reader, which begins before anything of the writer's stream.
    fn end(&self) -> Result<(), DriverError> {
        self.process.stream_synchronize(self.reader)
    }
}

#[test]
fn a_reader_that_runs_already_when_the_writer_ends_is_found() {
    let scene = Scene::new("");
    scene.load(scene.b);
    scene.store(scene.a);
    scene.go();
    let error = scene.end().unwrap_err();
    let DriverError::Finding { what } = error else { panic!("{error}") };
    let expected = format!(
        "read at {} of what kernel \"store\", which had not ended when this one began, block [0, 0, 0], thread [0, 0, 0], \
         line 4 of the PTX, wrote at {}, another address of the same memory, without fence.proxy.alias in between",
        scene.b, scene.a
    );
    assert!(what.starts_with("kernel \"load\", ") && what.ends_with(&expected), "{what}");
}

#[test]
fn a_memset_under_a_reader_is_found() {
    let scene = Scene::new("");
    scene.load(scene.b);
    scene.process.memset_d8_async(scene.a, 7, GRANULE, scene.writer).unwrap();
    scene.go();
    let what = scene.end().unwrap_err().to_string();
    assert!(what.contains("of what a copy or a memset that came after this launch had begun wrote at"), "{what}");
}

#[test]
fn a_fence_and_the_same_address_are_right() {
    let fenced = Scene::new("fence.proxy.alias;");
    fenced.load(fenced.b);
    fenced.store(fenced.a);
    fenced.go();
    fenced.end().unwrap();
    let same = Scene::new("");
    same.load(same.b);
    same.store(same.b);
    same.go();
    same.end().unwrap();
}

#[test]
fn a_reader_that_begins_after_the_writers_end_reads_by_any_address() {
    let scene = Scene::new("");
    // Something that has not ended keeps what is known of the others.
    let waiting = scene.process.stream_create(NON_BLOCKING).unwrap();
    let never = crate::support::offset(scene.go, 64);
    scene.launch(scene.kernels[1], waiting, &[never, scene.go]);
    scene.store(scene.a);
    scene.go();
    let written = scene.process.event_create(0).unwrap();
    scene.process.event_record(written, scene.writer).unwrap();
    scene.process.stream_wait_event(scene.reader, written, 0).unwrap();
    scene.load(scene.b);
    scene.process.memset_d8_async(never, 1, ByteSize::new(4), scene.reader).unwrap();
    scene.process.stream_synchronize(waiting).unwrap();
    scene.end().unwrap();
}
