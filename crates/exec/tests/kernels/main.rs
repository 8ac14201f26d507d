//! Kernels, compiled and run on simulated memory.

mod divergence;
mod faults;
mod forms;
mod integers;
mod rig;
mod robustness;
mod shipped;
mod specials;
