//! Kernels, compiled and run on simulated memory.

mod divergence;
mod faults;
mod integers;
mod rig;
mod shipped;
