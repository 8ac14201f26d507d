//! L1: a process forked after its driver was initialised, and each call of the child failed.
//!
//! In the child every call says that the driver is not initialised, `cuInit` too; the parent goes on; and a child that executes a program
//! has a driver of its own. A launcher only executes.

use peermap_driver::{ByteSize, CuResult, DriverError};
use peermap_ipc::{ChildError, Exit, forked};

use crate::expect::{holds, same};
use crate::process::Process;
use crate::stage::Stage;
use crate::trouble::Trouble;

/// What a child does first.
type FirstCall = fn(&Process) -> Result<(), DriverError>;

const FIRST_CALLS: [FirstCall; 3] = [
    |driver| driver.init(0),
    |driver| driver.device_get_count().map(drop),
    |driver| driver.reserve(ByteSize::mib(2)).map(drop),
];

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let machine = stage.machine()?;
    let process = machine.process()?;
    for call in FIRST_CALLS {
        let code = |error: DriverError| error.result().map_or(-1, |result| result.code().cast_signed());
        match forked(|| call(&process).map_or_else(code, |()| 0)) {
            Ok(ended) => same("the first call of the child", ended, not_initialised())?,
            Err(error @ ChildError::Threads { .. }) => return Err(Trouble::not_here(error.to_string())),
            Err(error) => return Err(error.into()),
        }
        holds("the parent goes on", process.device_get_count()? > 0, ())?;
    }
    let mut executed = machine.peer()?;
    holds("a child that executes a program has a driver", !executed.devices()??.is_empty(), ())
}

const fn not_initialised() -> Exit {
    Exit::Code(CuResult::NOT_INITIALIZED.code().cast_signed())
}
