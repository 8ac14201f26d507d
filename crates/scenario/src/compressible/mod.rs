//! Memory that is asked to be compressible and within reach of GPUDirect RDMA, and used whether it is or not.
//!
//! The work is that of [`memmap_ipc`](crate::memmap_ipc), and so are the workers. The parent asks for what its device promises,
//! reads back the properties of every buffer, and says how many have what was asked for: a driver may give less and answer
//! success all the same, so the property decides, never the request.
//!
//! | file | what it does |
//! | --- | --- |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `extra.rs` | the properties: who promises them, how they are asked for, how many buffers have them |

mod extra;
mod story;

pub use story::Compressible;
