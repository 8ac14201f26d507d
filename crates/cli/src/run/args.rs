//! Arguments of `run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use peermap_driver::ByteSize;
use peermap_scenario::fabric::{self, Mistake};
use peermap_scenario::pool_ipc::{self, Handles};
use peermap_scenario::{DeviceChoice, Fill, Options, Order, ShareAs, Verify, VerifyOn};
use peermap_scenario::{access, alias, compressible, grow, host_numa, memmap_ipc, multicast, simple_ipc, stripe};
use peermap_sim::{Check, Checks};

use crate::args::{Where, exit_codes};
use crate::backend::Chosen;
use crate::refusal::Refusal;

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
    Compressible(Buffers),
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
    /// One allocation mapped at two addresses, used in ways that are defined and in ways that are not.
    ///
    /// What is defined must be read as it was written. The simulator watches, and must report the rest; a GPU shows what
    /// happens to be read.
    ///
    /// For example: peermap run alias --profile h200-x2
    #[command(name = "alias", after_help = exit_codes())]
    Alias(Access),
    /// Memory of the host, made, shared and mapped as memory of a device is; read and written by kernels and by the CPU, with
    /// rights of their own.
    ///
    /// For example: peermap run host-numa --profile h200-x2
    #[command(name = "host-numa", after_help = exit_codes())]
    HostNuma(Grouped),
    /// NVIDIA's vectorAddMMAP: vectors in contiguous ranges whose stripes lie on several devices in turn, and their sum, to which each
    /// device adds its share.
    ///
    /// For example: peermap run stripe --profile unequal --balance dynamic
    #[command(name = "stripe", after_help = exit_codes())]
    Stripe(Stripe),
    /// Buffers of each worker's device, shared as fabric handles on one node and between nodes, and verified by every worker.
    ///
    /// For example: peermap run fabric --profile nvl72
    #[command(name = "fabric", after_help = exit_codes())]
    Fabric(Fabric),
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
    #[arg(long, value_name = "LIST|all", default_value = "none", hide_default_value = true)]
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

/// Arguments of `run memmap-ipc`.
#[derive(Debug, Args)]
pub(crate) struct MemmapIpc {
    #[command(flatten)]
    buffers: Buffers,
    /// As what the buffers are shared: file descriptors; fabric handles; or auto, fabric handles where creating, exporting and
    /// importing succeed, else descriptors.
    #[arg(long, value_name = "auto|fd|fabric", default_value = "fd")]
    handle: ShareAs,
    /// Pad a size that is no multiple of the granularity, and say what that wastes. Without this it is refused.
    #[arg(long)]
    round_up: bool,
}

/// Arguments of what does the work of memmap-ipc.
#[derive(Debug, Args)]
pub(crate) struct Buffers {
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

/// Arguments of `run access`, and of what needs no more.
#[derive(Debug, Args)]
pub(crate) struct Access {
    /// The size of each worker's buffer: a whole number of B, KiB, MiB, GiB or TiB, a multiple of the device's granularity,
    /// which is mostly 2 MiB.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    size: ByteSize,
    #[command(flatten)]
    common: Common,
}

/// Arguments of a scenario with so many processes on each device.
#[derive(Debug, Args)]
pub(crate) struct Grouped {
    /// The size of each worker's buffer: a whole number of B, KiB, MiB, GiB or TiB, a multiple of the granularity, which is mostly
    /// 2 MiB.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    size: ByteSize,
    /// How many worker processes each device gets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    processes_per_device: u32,
    #[command(flatten)]
    common: Common,
}

/// Arguments of `run stripe`.
#[derive(Debug, Args)]
pub(crate) struct Stripe {
    /// The size of each of the three vectors.
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    size: ByteSize,
    /// What lies on one device in a row, a multiple of the devices' granularity.
    #[arg(long, value_name = "SIZE", default_value = "2MiB")]
    stripe: ByteSize,
    /// Who adds how much: all the same; each as much as its multiprocessors, its clock and its measured bandwidth allow; or each the next
    /// piece from a counter that all share.
    #[arg(long, value_name = "even|by-device|dynamic", default_value = "even")]
    balance: stripe::Balance,
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

/// How handles get from worker to worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Through memory that they share.
    SharedMemory,
    /// By MPI.
    Mpi,
}

/// Arguments of `run fabric`.
#[derive(Debug, Args)]
pub(crate) struct Fabric {
    /// The size of each worker's buffer: a whole number of B, KiB, MiB, GiB or TiB, a multiple of the device's granularity,
    /// which is mostly 2 MiB.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    size: ByteSize,
    /// How handles get to all workers: through memory that they share, or by MPI. With mpi each process that mpirun starts is
    /// one worker, and nothing is spawned; it takes the next device in turn.
    #[arg(long, value_enum, default_value = "shared-memory")]
    transport: Transport,
    /// How many worker processes each device gets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    processes_per_device: u32,
    /// What buffers are filled with: the worker's number, or a pattern of worker, step and offset. The default is id
    /// for up to 255 workers and pattern above.
    #[arg(long, value_name = "id|pattern")]
    fill: Option<Fill>,
    /// A mistake to see refused: workers import a handle with an altered byte, or let go of their memory before others
    /// import it.
    #[arg(long, value_name = "none|altered|gone", default_value = "none")]
    mistake: Mistake,
    #[command(flatten)]
    common: Common,
}

/// Arguments of `run multicast`.
#[derive(Debug, Args)]
pub(crate) struct Multicast {
    /// How much memory each device binds, a multiple of the team's granularity.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    size: ByteSize,
    /// As what the team is shared: file descriptors; fabric handles; or auto, fabric handles where creating, exporting and
    /// importing succeed, else descriptors.
    #[arg(long, value_name = "auto|fd|fabric", default_value = "fd")]
    handle: ShareAs,
    /// Pad a size that is no multiple of the team's granularity, and say what that wastes. Without this it is refused.
    #[arg(long)]
    round_up: bool,
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
            Self::MemmapIpc(arguments) => &arguments.buffers.ring.common,
            Self::Compressible(arguments) => &arguments.ring.common,
            Self::SimpleIpc(arguments) => &arguments.ring.common,
            Self::PoolIpc(arguments) => &arguments.relay.ring.common,
            Self::Access(arguments) | Self::Alias(arguments) => &arguments.common,
            Self::Grow(arguments) => &arguments.common,
            Self::HostNuma(arguments) => &arguments.common,
            Self::Stripe(arguments) => &arguments.common,
            Self::Fabric(arguments) => &arguments.common,
            Self::Multicast(arguments) => &arguments.common,
        }
    }

    /// The arguments, if this process is a rank of a job that something else started.
    pub(crate) fn as_rank(&self) -> Option<&Fabric> {
        match self {
            Self::Fabric(arguments) if arguments.transport == Transport::Mpi => Some(arguments),
            _ => None,
        }
    }

    /// What the simulator watches for: what was asked for, and what the scenario is about.
    pub(crate) fn checks(&self, chosen: &Chosen) -> Checks {
        let asked = self.common().check;
        match (self, chosen) {
            (Self::Alias(_), Chosen::Sim(_)) => asked.with(Check::Aliases),
            _ => asked,
        }
    }

    /// What is asked for, without where it runs and what is shown, if there are these checks.
    pub(crate) fn wanted(&self, checks: Checks) -> peermap_scenario::Scenario {
        match self {
            Self::MemmapIpc(MemmapIpc { buffers: Buffers { ring, size }, handle, round_up }) => {
                let (options, share_as, round_up) = (ring.options(*size), *handle, *round_up);
                memmap_ipc::MemmapIpc { options, share_as, round_up }.into()
            }
            Self::SimpleIpc(arguments) => simple_ipc::SimpleIpc(arguments.relay()).into(),
            Self::PoolIpc(PoolIpc { relay, handles }) => {
                pool_ipc::PoolIpc { relay: relay.relay(), handles: *handles }.into()
            }
            Self::Compressible(Buffers { ring, size }) => compressible::Compressible(ring.options(*size)).into(),
            Self::Access(Access { common, size }) => access::Access::new(common.options(*size)).into(),
            Self::Stripe(Stripe { size, stripe, balance, common }) => {
                stripe::Stripe { options: common.options(*size), stripe: *stripe, balance: *balance }.into()
            }
            Self::HostNuma(Grouped { size, processes_per_device, common }) => {
                let options = Options { processes_per_device: *processes_per_device, ..common.options(*size) };
                host_numa::HostNuma::new(options).into()
            }
            Self::Alias(Access { common, size }) => {
                alias::Alias::new(common.options(*size), checks.has(Check::Aliases)).into()
            }
            Self::Grow(Grow { common, size, chunk, kv_cache, processes_per_device }) => {
                let options = Options { processes_per_device: *processes_per_device, ..common.options(*size) };
                grow::Grow::new(options, *chunk, *kv_cache).into()
            }
            Self::Fabric(arguments) => arguments.fabric().into(),
            Self::Multicast(arguments) => arguments.multicast().into(),
        }
    }
}

impl Fabric {
    /// What is asked of every scenario.
    pub(crate) const fn common(&self) -> &Common {
        &self.common
    }

    /// What a rank is to do.
    pub(crate) fn of_rank(&self) -> Result<fabric::Fabric, Refusal> {
        let Common { devices, profile_calls, .. } = &self.common;
        if devices.is_some() || profile_calls.is_some() || self.processes_per_device != 1 {
            return Err(Refusal::usage(
                "--devices, --processes-per-device and --profile-calls do not go with --transport mpi: \
                 each process that mpirun starts is one worker and takes the next device",
            ));
        }
        Ok(self.fabric())
    }

    fn fabric(&self) -> fabric::Fabric {
        let Self { common, size, processes_per_device, fill, mistake, transport: _ } = self;
        let (processes_per_device, fill) = (*processes_per_device, *fill);
        fabric::Fabric::new(Options { processes_per_device, fill, ..common.options(*size) }, *mistake)
    }
}

impl Multicast {
    fn multicast(&self) -> multicast::Multicast {
        let Self { common, size, handle, round_up, one_process, absent } = self;
        let (one_process, absent, share_as, round_up) = (*one_process, *absent, *handle, *round_up);
        multicast::Multicast::new(common.options(*size), multicast::Team { one_process, absent, share_as, round_up })
    }
}

impl Relay {
    fn relay(&self) -> peermap_scenario::Relay {
        peermap_scenario::Relay { options: self.ring.options(self.size), order: self.order, steps: self.steps }
    }
}

impl Common {
    /// How long the run may take.
    pub(crate) const fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    fn options(&self, size: ByteSize) -> Options {
        Options {
            devices: self.devices.clone(),
            size,
            verify_on: self.verify_on,
            timeout: self.timeout(),
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
