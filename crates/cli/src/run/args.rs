//! Arguments of `run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use peermap_driver::ByteSize;
use peermap_scenario::pool_ipc::{self, Handles};
use peermap_scenario::{DeviceChoice, Fill, Options, Order, Verify, VerifyOn};
use peermap_scenario::{access, compressible, grow, memmap_ipc, multicast, simple_ipc};
use peermap_sim::Checks;

use crate::args::{Where, exit_codes};

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(subcommand)]
    pub(crate) scenario: Scenario,
}

/// The scenarios.
#[derive(Debug, Subcommand)]
pub(crate) enum Scenario {
    /// NVIDIA's memMapIPCDrv: buffers of one device, mapped by a process per device, filled and verified in a ring.
    ///
    /// For example: peermap run memmap-ipc --profile h200-x2 --verify all --fill pattern
    #[command(name = "memmap-ipc", after_help = exit_codes())]
    MemmapIpc(MemmapIpc),
    /// NVIDIA's simpleIPC: cuMemAlloc buffers of each worker's device, handed round in the order of shared events.
    ///
    /// For example: peermap run simple-ipc --profile h200-x2 --processes-per-device 4 --order host
    #[command(name = "simple-ipc", after_help = exit_codes())]
    SimpleIpc(Relay),
    /// NVIDIA's streamOrderedAllocationIPC: buffers of stream-ordered memory pools, handed round as in simple-ipc.
    ///
    /// For example: peermap run pool-ipc --profile h200-x2 --verify all
    #[command(name = "pool-ipc", after_help = exit_codes())]
    PoolIpc(PoolIpc),
    /// The work of memmap-ipc with memory that is asked to be compressible and within reach of GPUDirect RDMA.
    ///
    /// How many buffers have these properties is read back and said; those that have not are used all the same.
    ///
    /// For example: peermap run compressible --profile scarce --processes-per-device 2
    #[command(name = "compressible", after_help = exit_codes())]
    Compressible(MemmapIpc),
    /// Rights of each device on shared memory, none, read, read and write, changed while mapped, revoked: each tried from each
    /// device, with faults where they are due.
    ///
    /// For example: peermap run access --profile h200-x2
    #[command(name = "access", after_help = exit_codes())]
    Access(Access),
    /// A vector that grows and shrinks without copying: addresses reserved far ahead, memory mapped chunk by chunk, mapped elsewhere
    /// when the room ends; each worker has one of its own.
    ///
    /// For example: peermap run grow --profile h200-x2 --size 64MiB --kv-cache
    #[command(name = "grow", after_help = exit_codes())]
    Grow(Grow),
    /// A team of devices behind multicast addresses: stored through by every rank and verified in each copy, unbound and bound
    /// again, reduced, and a norm of parts of all ranks that is the same on each.
    ///
    /// On a real driver multicast is closed unless the owner of the machine has set PEERMAP_ALLOW_MULTICAST=1.
    ///
    /// For example: peermap run multicast --profile h200-x8 --one-process
    #[command(name = "multicast", after_help = exit_codes())]
    Multicast(Multicast),
}

/// Arguments of every scenario.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Devices by ordinal or UUID, separated by commas; all that fit together if not given.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    devices: Option<Vec<DeviceChoice>>,
    /// Whether a kernel verifies, or the host after a copy.
    #[arg(long, value_name = "device|host", default_value = "device")]
    verify_on: VerifyOn,
    /// How many seconds the run may take.
    #[arg(long, value_name = "S", default_value_t = 60)]
    timeout: u64,
    /// A folder with memmap_ipc.ptx or memmap_ipc.cubin.
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
    /// Watch kernels for mistakes that a GPU does not tell: uninitialised, races, aliases and bounds, separated by commas, or
    /// all. Simulator only; kernels take longer.
    #[arg(long, value_name = "LIST|all", default_value = "", hide_default_value = true)]
    pub(crate) check: Checks,
    /// Record every driver call of every process: summed up after the result, and one by one in this file for
    /// chrome://tracing or ui.perfetto.dev. The file must not be there yet, and is there once the run has ended.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile_calls: Option<PathBuf>,
    /// Print one JSON object on standard output instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show each worker's steps, the kernels' source and the compiler's logs.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Arguments of the scenarios whose workers fill buffers in turn.
#[derive(Debug, Args)]
pub(crate) struct Ring {
    /// How many worker processes each device gets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    processes_per_device: u32,
    /// What buffers are filled with: the worker's number, or a pattern of worker, step and offset. The default is id
    /// for up to 255 workers and pattern above.
    #[arg(long, value_name = "id|pattern")]
    fill: Option<Fill>,
    /// Whether each worker verifies its own buffer or all.
    #[arg(long, value_name = "own|all", default_value = "own")]
    verify: Verify,
    /// Enable peer access between all contexts first, as the sample does.
    #[arg(long)]
    enable_peers: bool,
    /// Measure fill, verify and memset, and initialisation, after the verified run.
    #[arg(long)]
    measure: bool,
    #[command(flatten)]
    common: Common,
}

/// Arguments of `run memmap-ipc`, and of what does the same work.
#[derive(Debug, Args)]
pub(crate) struct MemmapIpc {
    /// The size of each worker's buffer: a whole number of B, KiB, MiB, GiB or TiB, a multiple of the device's granularity,
    /// which is mostly 2 MiB.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    size: ByteSize,
    #[command(flatten)]
    ring: Ring,
}

/// Arguments of every scenario that hands buffers round.
#[derive(Debug, Args)]
pub(crate) struct Relay {
    /// The size of each worker's buffer: a whole number of B, KiB, MiB, GiB or TiB.
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    size: ByteSize,
    /// What keeps a step's work behind that of the step before: events that the workers share; the host, which waits for the
    /// work in every step; or nothing, a mistake that the simulator shows as a mismatch.
    #[arg(long, value_name = "events|host|none", default_value = "events")]
    order: Order,
    /// How many steps there are; as many as workers if not given.
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    #[command(flatten)]
    ring: Ring,
}

/// Arguments of `run pool-ipc`.
#[derive(Debug, Args)]
pub(crate) struct PoolIpc {
    #[command(flatten)]
    relay: Relay,
    /// By what workers open the buffers: the pool's descriptor and the pointer's export data; or legacy handles, a mistake that
    /// the driver refuses.
    #[arg(long, value_name = "pool|legacy", default_value = "pool")]
    handles: Handles,
}

/// Arguments of `run access`.
#[derive(Debug, Args)]
pub(crate) struct Access {
    /// The size of each worker's buffer: a whole number of B, KiB, MiB, GiB or TiB, a multiple of the device's granularity,
    /// which is mostly 2 MiB.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    size: ByteSize,
    #[command(flatten)]
    common: Common,
}

/// Arguments of `run grow`.
#[derive(Debug, Args)]
pub(crate) struct Grow {
    /// The size of each worker's vector when it is largest: 4 chunks or more.
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    size: ByteSize,
    /// What is mapped at once, a multiple of the device's granularity.
    #[arg(long, value_name = "SIZE", default_value = "2MiB")]
    chunk: ByteSize,
    /// Free every second chunk in the end, and map the others in a row.
    #[arg(long)]
    kv_cache: bool,
    /// How many worker processes each device gets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    processes_per_device: u32,
    #[command(flatten)]
    common: Common,
}

/// Arguments of `run multicast`.
#[derive(Debug, Args)]
pub(crate) struct Multicast {
    /// How much memory each device binds, a multiple of the team's granularity.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    size: ByteSize,
    /// All ranks in one worker process instead of a process each.
    #[arg(long)]
    one_process: bool,
    /// A mistake: this rank adds no device, and the others bind without waiting for it. The driver never returns from that; the
    /// simulator says who is missing.
    #[arg(long, value_name = "RANK")]
    absent: Option<u32>,
    #[command(flatten)]
    common: Common,
}

impl Scenario {
    /// What is asked of every scenario.
    pub(crate) const fn common(&self) -> &Common {
        match self {
            Self::MemmapIpc(arguments) | Self::Compressible(arguments) => &arguments.ring.common,
            Self::SimpleIpc(arguments) => &arguments.ring.common,
            Self::PoolIpc(arguments) => &arguments.relay.ring.common,
            Self::Access(arguments) => &arguments.common,
            Self::Grow(arguments) => &arguments.common,
            Self::Multicast(arguments) => &arguments.common,
        }
    }

    /// The same without where it runs and what is shown.
    pub(crate) fn wanted(&self) -> peermap_scenario::Scenario {
        match self {
            Self::MemmapIpc(MemmapIpc { ring, size }) => memmap_ipc::MemmapIpc(ring.options(*size)).into(),
            Self::SimpleIpc(arguments) => simple_ipc::SimpleIpc(arguments.relay()).into(),
            Self::PoolIpc(PoolIpc { relay, handles }) => {
                pool_ipc::PoolIpc { relay: relay.relay(), handles: *handles }.into()
            }
            Self::Compressible(MemmapIpc { ring, size }) => compressible::Compressible(ring.options(*size)).into(),
            Self::Access(Access { common, size }) => access::Access::new(common.options(*size)).into(),
            Self::Grow(Grow { common, size, chunk, kv_cache, processes_per_device }) => {
                let options = Options { processes_per_device: *processes_per_device, ..common.options(*size) };
                grow::Grow::new(options, *chunk, *kv_cache).into()
            }
            Self::Multicast(Multicast { common, size, one_process, absent }) => {
                multicast::Multicast::new(common.options(*size), *one_process, *absent).into()
            }
        }
    }
}

impl Relay {
    fn relay(&self) -> peermap_scenario::Relay {
        peermap_scenario::Relay { options: self.ring.options(self.size), order: self.order, steps: self.steps }
    }
}

impl Common {
    fn options(&self, size: ByteSize) -> Options {
        Options {
            devices: self.devices.clone(),
            size,
            verify_on: self.verify_on,
            timeout: Duration::from_secs(self.timeout),
            kernels: self.kernels.clone(),
            verbose: self.verbose,
            ..Options::default()
        }
    }
}

impl Ring {
    fn options(&self, size: ByteSize) -> Options {
        Options {
            processes_per_device: self.processes_per_device,
            fill: self.fill,
            verify: self.verify,
            enable_peers: self.enable_peers,
            measure: self.measure,
            ..self.common.options(size)
        }
    }
}
