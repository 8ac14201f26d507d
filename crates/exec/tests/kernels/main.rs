//! Kernels, compiled and run on simulated memory.

mod barriers;
mod calls;
mod divergence;
mod faults;
mod floats;
mod integers;
mod rig;
mod shipped;
mod spaces;
mod waits;
mod warps;
