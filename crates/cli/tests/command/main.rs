//! The command as a person uses it: real processes, on the simulator.

mod access;
mod against;
mod atlas;
mod bad_input;
mod bench;
mod checks;
mod compare;
mod compressible;
mod deaths;
mod differential;
mod environment;
mod grow;
mod import;
mod launch;
mod main_job;
mod multicast;
mod pool_ipc;
mod profile_calls;
mod replay;
mod report;
mod simple_ipc;
mod support;
