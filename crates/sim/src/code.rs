//! Loaded code: the kernels of a process, ready to run.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use peermap_driver::{ByteSize, DeviceAttribute, Dim3, DriverError, KernelArg, Result};
use peermap_exec::{Checks, History, Launch, Multiprocessors, Stop};
use peermap_memory::View;
use peermap_model::{DeviceProfile, Operation};
use peermap_ptx::{Entry, Param};

/// How long a kernel may run before it counts as one that never ends, where nobody says otherwise.
const MOST_KERNEL_TIME: Duration = Duration::from_secs(60);

/// How many blocks of a kernel are started, one after the other, if those before wait for something.
const MOST_RESIDENT_BLOCKS: usize = 2048;

/// An entry of a loaded module.
pub(crate) struct Kernel {
    name: String,
    params: Vec<Param>,
    parameter_bytes: usize,
    compiled: Arc<peermap_exec::Kernel>,
    most_time: Duration,
    multiprocessors: Multiprocessors,
}

/// What a launch in the queue says besides the kernel.
pub(crate) struct Shape<'o> {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    pub(crate) shared: ByteSize,
    pub(crate) parameters: &'o [u8],
    /// What happens as long as the kernel waits for others.
    pub(crate) meanwhile: &'o (dyn Fn() + Sync),
    /// Where the variables of the kernel's module start.
    pub(crate) data: u64,
    pub(crate) print: &'o (dyn Fn(&[u8]) + Sync),
    pub(crate) checks: Checks,
    pub(crate) history: &'o History,
    /// The addresses of the buffer that an address lies in.
    pub(crate) buffer: &'o (dyn Fn(u64) -> Option<Range<u64>> + Sync),
}

impl Kernel {
    fn new(entry: &Entry, compiled: Arc<peermap_exec::Kernel>, device: &DeviceProfile, most_time: Duration) -> Self {
        let number = |attribute| device.attribute(attribute).and_then(|it| u32::try_from(it).ok()).unwrap_or(1);
        let threads = number(DeviceAttribute::MAX_THREADS_PER_MULTIPROCESSOR);
        Self {
            multiprocessors: Multiprocessors {
                count: number(DeviceAttribute::MULTIPROCESSOR_COUNT),
                warps: threads / number(DeviceAttribute::WARP_SIZE),
            },
            name: entry.name.clone(),
            params: entry.params.clone(),
            parameter_bytes: entry.parameter_bytes as usize,
            compiled,
            most_time,
        }
    }

    /// The parameters as the kernel reads them.
    ///
    /// # Errors
    /// [`DriverError::NotModelled`] for arguments that do not fit: the real driver would read past them.
    pub(crate) fn parameters(&self, args: &[KernelArg]) -> Result<Arc<[u8]>> {
        let not_modelled = |what| Err(DriverError::NotModelled { what });
        if args.len() != self.params.len() {
            let (given, declared) = (args.len(), self.params.len());
            return not_modelled(format!("kernel {:?} with {given} arguments, it declares {declared}", self.name));
        }
        let mut bytes = vec![0; self.parameter_bytes];
        for (index, (param, arg)) in self.params.iter().zip(args).enumerate() {
            let given = arg.to_bytes();
            let (offset, size) = (param.offset as usize, param.size as usize);
            if given.len() != size {
                let len = given.len();
                return not_modelled(format!(
                    "kernel {:?}: argument {index} has {len} bytes, the kernel declares {size}",
                    self.name
                ));
            }
            bytes[offset..offset + size].copy_from_slice(&given);
        }
        Ok(bytes.into())
    }

    /// Runs the kernel as the device that the view belongs to.
    pub(crate) fn run(&self, view: View<'_>, shape: &Shape<'_>) -> std::result::Result<(), Box<Stop>> {
        let dimensions = |dim: Dim3| [dim.x, dim.y, dim.z];
        let launch = Launch {
            shared_bytes: u32::try_from(shape.shared.get()).unwrap_or(u32::MAX),
            multiprocessors: self.multiprocessors,
            most: self.most_time,
            resident: MOST_RESIDENT_BLOCKS,
            meanwhile: shape.meanwhile,
            data: shape.data,
            print: shape.print,
            checks: shape.checks,
            history: Some(shape.history),
            buffer: shape.buffer,
            ..Launch::new(dimensions(shape.grid), dimensions(shape.block), shape.parameters)
        };
        self.compiled.launch(&launch, view)
    }
}

/// The kernels of a process, by the number that the model knows them by.
pub(crate) struct CodeStore {
    kernels: Vec<Arc<Kernel>>,
    /// How long a kernel that is added may run.
    pub(crate) most_time: Duration,
}

impl Default for CodeStore {
    fn default() -> Self {
        Self { kernels: Vec::new(), most_time: MOST_KERNEL_TIME }
    }
}

impl CodeStore {
    pub(crate) fn add(&mut self, entry: &Entry, compiled: Arc<peermap_exec::Kernel>, device: &DeviceProfile) -> u64 {
        self.kernels.push(Arc::new(Kernel::new(entry, compiled, device, self.most_time)));
        self.kernels.len() as u64 - 1
    }

    pub(crate) fn get(&self, code: u64) -> Option<&Arc<Kernel>> {
        self.kernels.get(usize::try_from(code).ok()?)
    }

    /// The code that an item of work runs.
    pub(crate) fn of(&self, operation: &Operation) -> Option<Arc<Kernel>> {
        match operation {
            Operation::Kernel { code, .. } => self.get(*code).cloned(),
            _ => None,
        }
    }
}
