//! The public interface, within one process.

mod barrier;
mod channel;
mod limits;
mod packet;
mod private;
mod shm;
mod support;
