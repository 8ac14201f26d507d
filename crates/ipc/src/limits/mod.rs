//! What the host allows: open files, memory, cores. All but [`raise_open_files`] only read.

mod error;
mod files;
mod host;
mod memory;

pub use error::LimitError;
pub use files::{OpenFiles, open_descriptors, open_files, raise_open_files};
pub use host::{Space, ptrace_scope, shared_memory_space, usable_cores};
pub use memory::available_memory;
