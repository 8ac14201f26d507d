//! What is known about each process while a trace is made.

use std::collections::BTreeMap;

/// The smallest piece of memory that is mapped.
pub(super) const GRANULE: u64 = 2 << 20;

/// A memory handle by one of its names.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    pub(super) name: String,
    /// The size of the memory behind it.
    pub(super) size: u64,
    /// Which memory that is, over all processes.
    pub(super) memory: usize,
    /// Which handle value it is, of those of its process. Names that were retained share one.
    pub(super) value: usize,
}

/// A reservation.
#[derive(Clone, Debug)]
pub(super) struct Reservation {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) mappings: Vec<Mapping>,
}

/// A mapping in a reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) memory: usize,
    pub(super) value: usize,
}

/// Memory from `cuMemAlloc`, or the same as another process opened it.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    pub(super) name: String,
    pub(super) size: u64,
    /// Which memory that is, over all processes.
    pub(super) memory: usize,
    pub(super) context: usize,
    /// Whether it was opened by a legacy handle.
    pub(super) opened: bool,
}

/// A descriptor.
#[derive(Clone, Debug)]
pub(super) struct Descriptor {
    pub(super) name: String,
    /// The memory and its size; `None`: it is none.
    pub(super) memory: Option<(usize, u64)>,
    /// The pool and its device; `None`: it is none.
    pub(super) pool: Option<(usize, u32)>,
}

/// A memory pool by one of its names.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) name: String,
    pub(super) device: u32,
    /// Which pool it is, over all processes.
    pub(super) number: usize,
    pub(super) imported: bool,
    /// Whether it was made to be exported.
    pub(super) shareable: bool,
}

/// An allocation of a pool.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    pub(super) name: String,
    pub(super) size: u64,
    /// Which pool it is of, over all processes.
    pub(super) pool: usize,
    pub(super) device: u32,
    /// Which memory that is, over all processes.
    pub(super) memory: usize,
    pub(super) imported: bool,
}

/// What finds an allocation of a pool in another process.
#[derive(Clone, Debug)]
pub(super) struct PoolPointer {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) pool: usize,
    pub(super) device: u32,
    pub(super) memory: usize,
}

/// A multicast object by its name.
#[derive(Clone, Debug)]
pub(super) struct Team {
    pub(super) name: String,
    pub(super) size: u64,
    /// How many devices it has when it is complete.
    pub(super) wanted: u64,
    pub(super) devices: Vec<u64>,
    /// Which device has memory at which offset.
    pub(super) bound: Vec<(u64, u64)>,
}

impl Team {
    pub(super) fn is_complete(&self) -> bool {
        self.devices.len() as u64 == self.wanted
    }
}

/// The bytes of a legacy handle.
#[derive(Clone, Debug)]
pub(super) struct Legacy {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) memory: usize,
}

/// A stream or an event.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub(super) name: String,
    pub(super) context: usize,
}

/// A process.
#[derive(Default, Debug)]
pub(super) struct Process {
    pub(super) started: bool,
    pub(super) ended: bool,
    /// How many steps it may still make, once a kernel of it has faulted.
    pub(super) after_fault: Option<u32>,
    pub(super) handles: Vec<Handle>,
    /// How often each handle value may still be released.
    pub(super) counts: Vec<u32>,
    pub(super) reservations: Vec<Reservation>,
    pub(super) allocations: Vec<Allocation>,
    pub(super) descriptors: Vec<Descriptor>,
    pub(super) legacy: Vec<Legacy>,
    pub(super) pools: Vec<Pool>,
    /// The numbers of the default pools by device.
    pub(super) default_pools: BTreeMap<u32, usize>,
    /// The numbers of the current pools by device, where they are not the default ones.
    pub(super) current_pools: BTreeMap<u32, usize>,
    pub(super) pooled: Vec<Pooled>,
    pub(super) pool_pointers: Vec<PoolPointer>,
    pub(super) teams: Vec<Team>,
    pub(super) streams: Vec<Queued>,
    pub(super) events: Vec<Queued>,
    /// Handles to events.
    pub(super) event_handles: Vec<String>,
    /// Names and devices of all contexts there were, the destroyed ones included.
    pub(super) contexts: Vec<(String, u32)>,
    /// Indices of contexts that exist.
    pub(super) alive: Vec<usize>,
    /// The stack of current contexts.
    pub(super) stack: Vec<usize>,
}

impl Process {
    /// The current context.
    pub(super) fn current(&self) -> Option<usize> {
        self.stack.last().copied()
    }

    /// Forgets what dies with a context.
    pub(super) fn forget_context(&mut self, context: usize) {
        self.alive.retain(|alive| *alive != context);
        self.stack.retain(|stacked| *stacked != context);
        self.allocations.retain(|allocation| allocation.context != context);
        self.streams.retain(|stream| stream.context != context);
        self.events.retain(|event| event.context != context);
    }

    /// One release less of a handle value. With the last one all of its names die.
    pub(super) fn released(&mut self, name: Option<&str>, value: usize) {
        self.counts[value] = self.counts[value].saturating_sub(1);
        let gone = self.counts[value] == 0;
        self.handles.retain(|handle| Some(handle.name.as_str()) != name && !(gone && handle.value == value));
    }
}

/// Memory from `cuMemAlloc`, over all processes.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Backing {
    /// Whether every byte has been written.
    pub(super) written: bool,
    /// Whether its owner has freed it, or lost it with its context or its life.
    pub(super) freed: bool,
}
