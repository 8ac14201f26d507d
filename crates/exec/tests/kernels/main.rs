//! Kernels, compiled and run on simulated memory.

mod barriers;
mod calls;
mod checks;
mod divergence;
mod faults;
mod floats;
mod forms;
mod multimem;
mod recursion;
mod rig;
mod robustness;
mod shipped;
mod spaces;
mod specials;
mod waits;
mod warps;
