//! The simulated driver in one OS process, concern by concern.

#[path = "../support/mod.rs"]
mod support;

mod descriptors;
mod evidence;
mod explanations;
mod faults;
mod host_memory;
mod interceptor;
mod kernels;
mod streams;
mod teardown;
mod threads;
mod waits;
