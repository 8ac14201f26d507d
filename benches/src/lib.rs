//! Workloads of the benchmarks, and how a claim about them is judged.
//!
//! The benchmarks in `benches/` measure with criterion, one number each. `benches/claims.rs` measures pairs in one run and
//! judges what the documentation says about them, and `benches/agreement.rs` whether criterion and the suites of `peermap bench`
//! come to the same. All use the workloads of this crate, so they measure the same thing.
//!
//! | module | workload |
//! | --- | --- |
//! | [`barrier`] | rounds of a barrier between processes, sleeping or spinning |
//! | [`bytes`] | the kernels that fill and verify, on simulated memory |
//! | [`device`] | fills, verification and copies on a device, timed by its events |
//! | [`load`] | loads of kernels on a simulated device |
//! | [`control`] | calls on a process with many live mappings |
//! | [`random_sets`] | the recordings of random calls, on a simulated machine |
//! | [`transport`] | messages with descriptors to another process and back |
//!
//! Nothing here is part of what peermap offers: it panics where a test would.

pub mod barrier;
pub mod bytes;
pub mod claim;
pub mod control;
pub mod cores;
pub mod device;
pub mod load;
pub mod random_sets;
pub mod timing;
pub mod transport;
pub mod worker;
