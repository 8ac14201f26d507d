//! The command as a person uses it: real processes, on the simulator.

mod atlas;
mod bad_input;
mod bench;
mod deaths;
mod differential;
mod environment;
mod main_job;
mod replay;
mod support;
