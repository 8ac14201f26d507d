//! What the calls cost that make, map, share and give back memory.
//!
//! | group | what it does |
//! | --- | --- |
//! | `lifecycle.rs` | every call in the life of one allocation, by size, on its own device and on a peer's memory |
//! | `range.rs` | many chunks in one range: mapped, given rights at once, unmapped; growth by one chunk; unmap and map again |
//! | `alloc.rs` | `cuMemAlloc` with peers enabled beside the virtual memory calls for one peer |
//! | `share.rs` | memory made here until it is readable in another process, by descriptor and by legacy handle |
//! | `pool.rs` | stream-ordered allocation, from a pool that keeps its memory and from one that does not |

mod alloc;
mod lifecycle;
mod pool;
mod range;
mod share;

use crate::rig::Rig;
use crate::suite::{Planned, Suite};

/// The suite.
pub(crate) struct Control;

impl Suite for Control {
    fn name(&self) -> &'static str {
        "control"
    }

    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
        let planned = [lifecycle::plan(rig), range::plan(rig), alloc::plan(rig), pool::plan(rig), share::plan(rig)];
        planned.into_iter().flatten().collect()
    }
}
