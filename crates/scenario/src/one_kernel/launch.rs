//! The launch itself.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use peermap_driver::{
    ByteSize, Context, CuResult, Dim3, Driver, DriverError, Function, JitLog, JitOptions, KernelArg, LaunchConfig,
    Module, Stream,
};

use super::argument::Given;
use super::error::LaunchError;
use super::mapped::Mapped;
use crate::watched::watched;

/// A kernel and what it is launched with.
#[derive(Debug, Clone)]
pub struct OneKernel {
    /// The code: PTX, or what else the driver loads.
    pub image: Vec<u8>,
    /// The name of the kernel.
    pub entry: String,
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Dynamic shared memory of a block.
    pub shared: ByteSize,
    /// The arguments, in order.
    pub arguments: Vec<Given>,
    /// How long to wait for it, where the driver itself waits without end.
    pub patience: Option<Duration>,
}

/// How much of the compiler's error log is kept.
const LOG_BYTES: usize = 64 << 10;

/// Runs a kernel on the first device and hands on what its buffers hold then: `results` is called with the number of the
/// argument and the bytes, a piece at a time and in order. Everything is given back at the end, however it ends; only a
/// kernel that does not end keeps what it uses until this process does.
///
/// The driver must be initialised, and the arguments those that the kernel declares: [`check`](super::check) says so
/// where the text can be read, and whoever launches other code answers for it.
///
/// # Errors
/// [`LaunchError`], with the kernel's fault or the call that failed.
pub fn launch(
    plain: &dyn Driver,
    kernel: &OneKernel,
    results: &mut dyn FnMut(usize, &[u8]) -> io::Result<()>,
) -> Result<(), LaunchError> {
    let driver = watched(plain);
    let named = |source: DriverError| LaunchError::Driver { call: driver.interceptor().call_of(&source), source };
    let device = driver.device_get(0).map_err(named)?;
    let context = Current { driver: &driver, context: driver.ctx_create(0, device).map_err(named)? };
    let code = Code::load(&driver, &kernel.image)?;
    let function = driver.module_get_function(code.module, &kernel.entry).map_err(named)?;
    let mut buffers = Vec::new();
    let mut arguments = Vec::with_capacity(kernel.arguments.len());
    for (index, given) in kernel.arguments.iter().enumerate() {
        arguments.push(match given {
            Given::Value(value) => value.clone(),
            Given::Buffer(start) => {
                let buffer = Mapped::new(&driver, device, start).map_err(named)?;
                let ptr = buffer.ptr;
                buffers.push((index, buffer));
                KernelArg::Ptr(ptr)
            }
        });
    }
    let config = kernel.config(function);
    // SAFETY: the caller vouches for the arguments, and has compared them with what the text declares if it can be read.
    unsafe { driver.launch_kernel(&config, &arguments) }.map_err(named)?;
    let ended = kernel.wait(plain);
    if matches!(ended, Err(LaunchError::Unfinished(_))) {
        // To free what a kernel uses is to wait for it.
        std::mem::forget((buffers, code, context));
        return ended;
    }
    ended?;
    for (argument, buffer) in &buffers {
        for piece in buffer.pieces() {
            let written = results(*argument, &piece.map_err(named)?);
            written.map_err(|source| LaunchError::Write { argument: *argument, source })?;
        }
    }
    Ok(())
}

impl OneKernel {
    fn config(&self, function: Function) -> LaunchConfig {
        LaunchConfig { function, grid: self.grid, block: self.block, shared_bytes: self.shared, stream: Stream::NULL }
    }

    fn wait(&self, driver: &dyn Driver) -> Result<(), LaunchError> {
        let faulted = |error| match error {
            DriverError::Refused { .. } => LaunchError::Fault(error),
            source => LaunchError::Driver { call: None, source },
        };
        let Some(patience) = self.patience else { return driver.ctx_synchronize().map_err(faulted) };
        let start = Instant::now();
        loop {
            match driver.stream_query(Stream::NULL) {
                Err(error) if error.result() == Some(CuResult::NOT_READY) => {
                    if start.elapsed() >= patience {
                        return Err(LaunchError::Unfinished(patience));
                    }
                    thread::sleep(POLL_INTERVAL);
                }
                ended => return ended.map_err(faulted),
            }
        }
    }
}

/// How often the driver is asked whether a kernel has ended.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// A context, which is destroyed when it is dropped.
struct Current<'d> {
    driver: &'d dyn Driver,
    context: Context,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        drop(self.driver.ctx_destroy(self.context));
    }
}

/// A module, which is unloaded when it is dropped.
struct Code<'d> {
    driver: &'d dyn Driver,
    module: Module,
}

impl<'d> Code<'d> {
    fn load(driver: &'d dyn Driver, image: &[u8]) -> Result<Self, LaunchError> {
        let mut options = JitOptions { error_log: Some(JitLog::with_capacity(LOG_BYTES)), ..JitOptions::default() };
        let loaded = driver.module_load_data_ex(image, &mut options);
        let log = || options.error_log.as_ref().map(|log| log.text().to_owned()).unwrap_or_default();
        let module = loaded.map_err(|source| LaunchError::Load { source, log: log() })?;
        Ok(Self { driver, module })
    }
}

impl Drop for Code<'_> {
    fn drop(&mut self) {
        drop(self.driver.module_unload(self.module));
    }
}

#[cfg(test)]
mod tests {
    use peermap_report::ExitCode;
    use peermap_sim::{SimMachine, SimProcess};

    use super::super::argument::Start;
    use super::*;

    const MEMMAP: &str = include_str!("../../../../kernels/memmap_ipc.ptx");
    const ENDLESS: &str =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry fill_byte()\n{\nL:\nbra L;\n}\n";

    fn machine() -> (SimMachine, SimProcess) {
        let machine = SimMachine::named("h200-x2").unwrap();
        let process = machine.process().unwrap();
        process.init(0).unwrap();
        (machine, process)
    }

    /// A fill of so many bytes of a buffer of 100.
    fn fill(count: u64) -> OneKernel {
        let buffer = Given::Buffer(Start::Bytes(vec![1; 100]));
        OneKernel {
            image: MEMMAP.into(),
            entry: "fill_byte".to_owned(),
            grid: Dim3::x(2),
            block: Dim3::x(32),
            shared: ByteSize::ZERO,
            arguments: vec![buffer, Given::Value(KernelArg::U64(count)), Given::Value(KernelArg::U8(7))],
            patience: None,
        }
    }

    fn run(process: &SimProcess, kernel: &OneKernel) -> Result<Vec<u8>, LaunchError> {
        let mut all = Vec::new();
        launch(process, kernel, &mut |argument, piece| {
            assert_eq!(argument, 0);
            all.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn a_buffer_holds_what_the_kernel_left_and_is_given_back() {
        let (machine, process) = machine();
        let held = run(&process, &fill(64)).unwrap();
        assert_eq!((&held[..64], &held[64..]), (&[7; 64][..], &[1; 36][..]));
        assert!(machine.holders().unwrap().0.is_empty());
        assert_eq!(run(&process, &fill(100)).unwrap(), [7; 100], "nothing of the first launch is in the way");
    }

    #[test]
    fn nothing_is_mapped_behind_the_last_granule() {
        let granule = 2 << 20;
        let (_machine, process) = machine();
        run(&process, &fill(granule)).unwrap();
        let (machine, process) = machine();
        let error = run(&process, &fill(granule + 1)).unwrap_err();
        assert!(matches!(&error, LaunchError::Fault(_)) && error.exit_code() == ExitCode::DeviceFault, "{error}");
        assert_eq!(error.result(), Some(CuResult::ILLEGAL_ADDRESS));
        assert!(machine.holders().unwrap().0.is_empty(), "given back after a fault, too");
    }

    #[test]
    fn a_kernel_that_is_asked_after_ends_as_well() {
        let (_machine, process) = machine();
        let kernel = OneKernel { patience: Some(Duration::from_secs(60)), ..fill(100) };
        assert_eq!(run(&process, &kernel).unwrap(), [7; 100]);
    }

    #[test]
    fn a_kernel_that_does_not_end_is_not_waited_for_beyond_patience() {
        let (_machine, process) = machine();
        let kernel =
            OneKernel { image: ENDLESS.into(), arguments: Vec::new(), patience: Some(Duration::ZERO), ..fill(0) };
        let error = run(&process, &kernel).unwrap_err();
        assert!(matches!(error, LaunchError::Unfinished(Duration::ZERO)), "{error}");
        assert_eq!((error.result(), error.exit_code()), (Some(CuResult::LAUNCH_TIMEOUT), ExitCode::DeviceFault));
    }

    #[test]
    fn a_call_that_fails_is_named() {
        let (machine, process) = machine();
        let kernel = OneKernel { block: Dim3::x(2000), ..fill(1) };
        let error = run(&process, &kernel).unwrap_err();
        assert!(error.to_string().starts_with("cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE"), "{error}");
        assert_eq!(error.exit_code(), ExitCode::DriverError);
        assert!(machine.holders().unwrap().0.is_empty());
    }

    #[test]
    fn code_that_does_not_load_comes_with_the_log() {
        let (_machine, process) = machine();
        let kernel = OneKernel { image: MEMMAP.replacen('{', "[", 1).into(), ..fill(1) };
        let error = run(&process, &kernel).unwrap_err();
        let LaunchError::Load { log, .. } = &error else { panic!("{error}") };
        assert!(log.starts_with("ptxas application ptx input, line "), "{log}");
    }
}
