//! Loads of a kernel.

use std::cell::Cell;
use std::time::Duration;

use peermap_driver::{Driver, JitOptions};
use peermap_ptx::Module;
use peermap_sim::{SimMachine, SimProcess};

use crate::timing::time;

const PTX: &str = include_str!("../../kernels/memmap_ipc.ptx");

/// A process that loads the kernels of memmap-ipc over and over.
pub struct Loader {
    process: SimProcess,
    loads: Cell<u32>,
}

impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

impl Loader {
    /// A process with a context.
    ///
    /// # Panics
    /// If the host can back no machine.
    #[must_use]
    pub fn new() -> Self {
        let machine = SimMachine::named("default").expect("the host can back a machine");
        let process = machine.process().expect("the host can back a process");
        process.init(0).expect("a driver can be initialised");
        process.ctx_create(0, process.device_get(0).expect("there is a device")).expect("a context");
        Self { process, loads: Cell::new(0) }
    }

    /// How many instructions the kernels have.
    ///
    /// # Panics
    /// If they cannot be read.
    #[must_use]
    pub fn instructions() -> usize {
        let module = Module::parse(PTX).expect("the kernels are PTX");
        module.entries().iter().map(|entry| entry.body.instructions.len()).sum()
    }

    /// How long the load of a text takes that was never loaded.
    #[must_use]
    pub fn load_new(&self) -> Duration {
        let number = self.loads.replace(self.loads.get() + 1);
        self.load(&format!("{}\n// {number}\n", PTX))
    }

    /// How long the load of a text takes that was loaded before.
    #[must_use]
    pub fn load_known(&self) -> Duration {
        let _ = self.load(PTX);
        self.load(PTX)
    }

    fn load(&self, text: &str) -> Duration {
        time(|| {
            let module = self.process.module_load_data_ex(text.as_bytes(), &mut JitOptions::default());
            self.process.module_unload(module.expect("the kernel is covered")).expect("it was loaded");
        })
    }
}
