//! A vector on a device that grows and shrinks without copying, and chunks that lie scattered made one range.
//!
//! Each worker has a vector of its own on its own device. The vector reserves addresses far ahead and maps memory to them chunk
//! by chunk. Where its addresses end it reserves those behind; where these are not to be had it reserves twice the room elsewhere
//! and maps the same chunks there. Addresses that it has left stay mapped, so that old pointers stay valid, until they are given up.
//!
//! The worker's story: the vector doubles up to its size. At the first end of its addresses something else lies behind it, so it has
//! to move. There, and when it grows next, in place, each driver call of the growth is refused in turn, and after each refusal the
//! vector is as it was. Then it shrinks to half and grows again. With `kv_cache` every second chunk is freed, as a cache of attention keys and values is
//! thinned out, and what is left is mapped in a row. Whatever is mapped is verified after each change, through all its addresses.
//!
//! No byte is copied: all driver calls of the vector pass an overseer that counts those that move bytes.
//!
//! | file | what it does |
//! | --- | --- |
//! | `options.rs` | what can be asked of this scenario alone |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `worker.rs` | the worker's story |
//! | `check.rs` | the contents of the vector, through all its addresses |
//! | `vector.rs` | the vector |
//! | `range.rs` | addresses in a row, and which chunks are mapped to them |

mod check;
mod options;
mod range;
mod story;
mod vector;
mod worker;

pub use options::Grow;
pub(crate) use worker::{Task, work};
