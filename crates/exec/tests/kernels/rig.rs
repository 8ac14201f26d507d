//! A device with some memory, and launches on it.

use std::sync::Arc;
use std::time::Duration;

use peermap_exec::{Kernel, Launch, Multiprocessors, Stop};
use peermap_memory::{Arena, Backing, Budget, MemoryError, Rights, Switches, Table, View, Wire, device_window};
use peermap_ptx::Module;

pub(crate) const GRANULE: u64 = 64 << 10;

pub(crate) const MULTIPROCESSORS: Multiprocessors = Multiprocessors { count: 108, warps: 64 };

/// How many devices a team has.
pub(crate) const COPIES: usize = 3;

/// A device whose memory starts with the window, with nothing mapped behind it.
pub(crate) struct Rig {
    table: Table,
    arenas: [Arc<Arena>; 1],
    switches: Switches,
    pub(crate) base: u64,
}

impl Rig {
    /// So many granules of memory.
    pub(crate) fn new(granules: u64) -> Self {
        Self::with(granules, Ok)
    }

    /// The same, with a record of what is written.
    pub(crate) fn marked(granules: u64) -> Self {
        Self::with(granules, Arena::marked)
    }

    fn with(granules: u64, prepared: impl Fn(Arena) -> Result<Arena, MemoryError>) -> Self {
        let window = device_window().expect("a window");
        let table = Table::new(window.base, window.bytes, GRANULE).expect("a table");
        let budget = Arc::new(Budget::create(1 << 30).expect("a budget"));
        let arena = Arena::create(0, granules * GRANULE, GRANULE, budget).and_then(prepared).expect("an arena");
        table.set(window.base, granules, Backing { arena: 0, first_granule: 0 }, Rights::READ_WRITE);
        let switches = Switches::create(GRANULE, GRANULE, COPIES).expect("switches");
        Self { table, arenas: [Arc::new(arena)], switches, base: window.base }
    }

    /// Maps the memory's first granule once more, and gives the address.
    pub(crate) fn alias(&self) -> u64 {
        let address = self.base + (1 << 30);
        self.table.set(address, 1, Backing { arena: 0, first_granule: 0 }, Rights::READ_WRITE);
        address
    }

    /// A multicast address of one granule: for each device of a team it stands for the memory's granule of that number.
    pub(crate) fn team(&self) -> u64 {
        let address = self.base + (2 << 30);
        if self.view().copies(address).next().is_none() {
            self.table.set(address, 1, Backing { arena: Backing::TEAMS, first_granule: 0 }, Rights::READ_WRITE);
            (0..COPIES as u16).for_each(|device| {
                let backing = Backing { arena: 0, first_granule: device.into() };
                self.switches.wire(0, 1, device, Wire::Memory(backing));
            });
        }
        address
    }

    /// Takes the memory of a device away from the team.
    pub(crate) fn unbind(&self, device: u16) {
        self.team();
        self.switches.wire(0, 1, device, Wire::Unbound);
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.table, &self.arenas).with_switches(&self.switches)
    }

    pub(crate) fn bytes(&self, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.view().read(self.base + offset, &mut bytes).expect("memory of the rig");
        bytes
    }

    pub(crate) fn word(&self, offset: u64) -> u64 {
        let mut bytes = [0; 8];
        self.view().read(self.base + offset, &mut bytes).expect("memory of the rig");
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn launch(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        parameters: &[u8],
    ) -> Result<(), Box<Stop>> {
        self.launch_for(kernel, (grid, block), parameters, Duration::from_secs(20), &|| {})
    }

    /// As [`Rig::launch`], with a deadline and what happens while all blocks wait.
    pub(crate) fn launch_for(
        &self,
        kernel: &Kernel,
        (grid, block): ([u32; 3], [u32; 3]),
        parameters: &[u8],
        most: Duration,
        meanwhile: &(dyn Fn() + Sync),
    ) -> Result<(), Box<Stop>> {
        let multiprocessors = MULTIPROCESSORS;
        let launch = Launch { multiprocessors, most, meanwhile, ..Launch::new(grid, block, parameters) };
        kernel.launch(&launch, self.view())
    }
}

/// The entry of a text.
pub(crate) fn kernel(text: &str, name: &str) -> Kernel {
    let module = Module::parse(text).expect("PTX");
    Kernel::compile(&module, module.entry(name).expect("an entry")).expect("a kernel that is covered")
}

/// Parameters, each at a multiple of its size.
#[derive(Default)]
pub(crate) struct Parameters(pub(crate) Vec<u8>);

impl Parameters {
    pub(crate) fn push(mut self, bytes: &[u8]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(bytes.len()), 0);
        self.0.extend(bytes);
        self
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        self.push(&value.to_le_bytes())
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.push(&value.to_le_bytes())
    }

    pub(crate) fn u8(self, value: u8) -> Self {
        self.push(&[value])
    }
}
