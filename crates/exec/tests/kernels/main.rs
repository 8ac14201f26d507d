//! Kernels, compiled and run on simulated memory.

mod faults;
mod rig;
mod shipped;
