//! The simulated driver in one OS process, concern by concern.

#[path = "../support/recordings.rs"]
mod recordings;
#[path = "../support/mod.rs"]
mod support;

mod account;
mod addresses;
mod aliases;
mod checks;
mod descriptors;
mod evidence;
mod explanations;
mod faults;
mod host_mappings;
mod host_memory;
mod in_flight;
mod interceptor;
mod jit;
mod kernels;
mod multicast;
mod peers;
mod pieces;
mod pools;
mod profiles;
mod spaces;
mod streams;
mod teardown;
mod threads;
mod waiting;
#[path = "../support/waiting.rs"]
mod waiting_kernel;
mod waits;
mod windows;
