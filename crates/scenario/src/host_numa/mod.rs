//! Memory of the host, through the calls that make, share and map memory of a device; read and written by kernels and by the CPU.
//!
//! The parent allocates one buffer per worker on the NUMA node of the first device and hands all descriptors to every worker. Each
//! worker first shows on its own buffer that rights of its device and of the host are apart: what the one is given says nothing
//! of the other. Memory that names no node, and so cannot be shared, it finds to work the same. Then the CPU of each worker fills
//! its buffer, the device of another verifies and fills it anew, and the CPU verifies that. At last the device of each worker loses
//! its rights: its kernel faults, and the CPU, which kept its own, reads and writes on.
//!
//! An access of the CPU without the right to it would end the process, so the rights are looked at before
//! ([`HostAccess`](peermap_driver::HostAccess)).
//!
//! | file | what it does |
//! | --- | --- |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `worker.rs` | the worker's story |
//! | `share.rs` | a buffer of the host in a worker: rights, and what device and CPU do with it |
//! | `unshared.rs` | memory of the host that names no node, which no other process can get |
//! | `act.rs` | what is done, by whom |

mod act;
mod share;
mod story;
mod unshared;
mod worker;

pub use act::Act;
pub use story::HostNuma;
pub(crate) use worker::work;
