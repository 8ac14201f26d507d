//! The multi-process workloads, written once against the Driver trait.
//!
//! A scenario never names a backend: whoever starts one passes a [`Backend`] in, and a [`Launcher`] that says how worker
//! processes are started. The command's hidden worker subcommand calls [`worker_main`].
//!
//! | scenario | what it is |
//! | --- | --- |
//! | [`memmap_ipc`] | NVIDIA's memMapIPCDrv: `cuMemMap` memory of one device, filled and verified by many processes |
//! | [`simple_ipc`] | NVIDIA's simpleIPC: `cuMemAlloc` memory of each worker's device, handed round in the order of shared events |
//! | [`pool_ipc`] | NVIDIA's streamOrderedAllocationIPC: memory of stream-ordered pools, handed round in the same way |
//! | [`compressible`] | memmap-ipc with memory that is asked to be compressible and within reach of GPUDirect RDMA |
//! | [`access`] | rights of each device: none, read, read and write, changed while mapped, revoked; each tried |
//! | [`alias`] | one allocation mapped at two addresses, used in ways that are defined and in ways that are not |
//! | [`host_numa`] | memory of the host through the same calls, read and written by kernels and by the CPU |
//! | [`multicast`] | a team of devices: written through by all, read in each copy, reduced, and one norm on every rank |
//! | [`grow`] | a vector that grows and shrinks without copying, and scattered chunks made one range |
//! | [`stripe`] | vectors whose stripes lie on several devices in turn, and their sum, to which each device adds its share |
//! | [`fabric`] | memory of each worker's device, shared as fabric handles, on one node and between nodes |
//!
//! What all scenarios share lies beside their folders:
//!
//! | file | what it does |
//! | --- | --- |
//! | `scenario.rs`, `options.rs` | which scenario runs, and what can be asked of all of them |
//! | `backend.rs` | how a run gets its drivers |
//! | `messages.rs` | what parent and workers say to each other; a new scenario adds its `Role` there |
//! | `parent/` | the parent's side: its story, who works where, the report |
//! | `crew.rs`, `launch.rs` | its workers: spawn, watch, find out who died, end within a second |
//! | `worker.rs`, `post.rs` | the worker's side: initialise, get the role, tell each step, report |
//! | `task.rs`, `workplace.rs` | what a worker is to do, and what it works with |
//! | `exported.rs`, `row.rs` | memory that the parent exports, and how workers map it one behind the other |
//! | `share_as.rs` | as descriptors or as fabric handles |
//! | `transport/` | how handles get from those who export to those who import |
//! | `own_memory.rs` | memory that each worker makes for itself |
//! | `relay/` | buffers handed round in the order of shared events |
//! | `ring/` | what the workers have in common that fill buffers in turn |
//! | `devices/` | choice of devices |
//! | `kernels.rs`, `device_kernels.rs` | where kernels come from, and how they are launched |
//! | `code.rs` | kernels of one module, for scenarios that have their own |
//! | `overseer.rs` | counts calls that move bytes, and refuses one that is wanted refused |
//! | `content.rs`, `check.rs` | what buffers hold, and whether they do |
//! | `names.rs` | choices by name on the command line |
//! | `timing.rs`, `watched.rs` | times, and which driver call failed |
//! | `calls/` | recording of driver calls, in every process of a run |
//! | `one_kernel/` | a kernel of the user's, launched once in this process, without workers |
//! | `probe.rs` | what initialisation and one context take in a process that is alone |
//!
//! # Portability
//! Between processes a device is named by its UUID, never by its ordinal. Nothing that a run makes has a name in a file
//! system, and every worker dies with its parent.

pub mod access;
pub mod alias;
mod backend;
mod calls;
mod check;
mod code;
pub mod compressible;
mod content;
mod crew;
mod device_kernels;
mod devices;
mod error;
mod exported;
pub mod fabric;
pub mod grow;
pub mod host_numa;
mod kernels;
mod launch;
mod lookout;
pub mod memmap_ipc;
mod messages;
#[cfg(test)]
mod mock;
pub mod multicast;
mod names;
pub mod one_kernel;
mod options;
mod overseer;
mod own_memory;
mod parent;
pub mod pool_ipc;
mod post;
mod probe;
mod relay;
mod ring;
mod row;
mod scenario;
mod share_as;
pub mod simple_ipc;
pub mod stripe;
mod task;
mod timing;
mod transport;
mod watched;
mod worker;
mod workplace;

pub use backend::{Backend, BackendError, EndOfMachine, Troupe, WorkerEndpoint};
pub use check::{Verify, VerifyOn};
pub use content::{Author, Fill};
pub use device_kernels::{Buffer, DeviceKernels, Findings};
pub use devices::{DeviceChoice, InCommon, NoneInCommon, ParseDeviceError, devices_in_common, find_device};
pub use error::{Complaint, RunError, UsageError, one_line};
pub use kernels::embedded_kernels;
pub use launch::Launcher;
pub use messages::Step;
pub use names::UnknownName;
pub use options::Options;
pub use parent::{refused, run, run_recording_calls};
pub use relay::{Order, Relay};
pub use scenario::Scenario;
pub use share_as::ShareAs;
pub use timing::StreamTimer;
pub use transport::{Meet, Transport, TransportError};
pub use worker::worker_main;
