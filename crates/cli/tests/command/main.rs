//! The command as a person uses it: real processes, on the simulator.

mod access;
mod against;
mod alias;
mod atlas;
mod bad_input;
mod bench;
mod bugs;
mod chaos;
mod checks;
mod compare;
mod compressible;
mod deaths;
mod differential;
mod environment;
mod fabric;
mod grow;
mod handles;
mod holders;
mod host_numa;
mod import;
mod launch;
mod main_job;
#[cfg(feature = "mpi")]
mod mpi;
mod multicast;
mod pool_ipc;
mod profile_calls;
mod replay;
mod report;
#[path = "../support/mod.rs"]
mod running;
mod simple_ipc;
mod stripe;
mod support;
