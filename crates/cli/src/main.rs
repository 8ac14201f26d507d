//! The `peermap` command.
fn main() {}
