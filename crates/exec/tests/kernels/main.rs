//! Kernels, compiled and run on simulated memory.

mod barriers;
mod divergence;
mod faults;
mod floats;
mod integers;
mod rig;
mod shipped;
mod waits;
mod warps;
