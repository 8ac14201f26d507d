//! Workers: the executable of a benchmark, started again in another role.

use std::time::Duration;

use peermap_ipc::{Deadline, Spawn};

use crate::{barrier, transport};

/// Before the name of the role, as the first argument of a worker. Nobody types it.
const FLAG: &str = "--peermap-worker";

/// Long enough for every wait that succeeds, however busy the machine is.
pub(crate) fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(120))
}

/// A worker that will play `role`.
pub(crate) fn spawn(role: &str) -> Spawn {
    let exe = std::env::current_exe().expect("a process knows its executable");
    Spawn::new(exe).arg0("peermap-bench").args([FLAG, role])
}

/// Plays the role that this process was started for, if it is a worker. To be called first of all in `main`; where it
/// answers true there is nothing left to do.
///
/// # Panics
/// On a role that is not known, and where a role fails: the worker ends, and whoever waits for it sees the hang-up.
#[must_use]
pub fn played() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flag, role] = arguments.as_slice() else { return false };
    if flag != FLAG {
        return false;
    }
    match role.as_str() {
        barrier::ROLE => barrier::play(),
        transport::ROLE => transport::play(),
        unknown => panic!("there is no role {unknown}"),
    }
    true
}
