//! Kernels, compiled and run on simulated memory.

mod faults;
mod integers;
mod rig;
mod shipped;
