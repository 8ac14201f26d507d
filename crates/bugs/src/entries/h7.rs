//! H7: taking a descriptor out of a sibling was not permitted, in containers and on hardened hosts.
//!
//! Without the right to trace, `pidfd_getfd` is refused, whatever number is asked for. The very same descriptor gets across when its
//! owner sends it over a socket, which needs no right.

use std::io::{Read, Seek};
use std::time::Duration;

use peermap_ipc::{Deadline, TypedChannel};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use crate::expect::{holds, same};
use crate::helper::{Help, Said};
use crate::play::Task;
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How long the sibling may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    give_up_tracing()?;
    for _ in 0..3 {
        let (channel, child) = stage.launch().start(&Task::Help(Help::Keep), None)?;
        let mut line: TypedChannel<(), Said> = TypedChannel::new(channel);
        let number = match line.recv(0, Deadline::after(PATIENCE))? {
            (Said::Number(number), _) => number,
            (other, _) => return holds("the sibling says its number", false, other),
        };
        let pid = i32::try_from(child.pid()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| Trouble::not_here("the sibling has no process id"))?;
        let sibling = pidfd_open(pid, PidfdFlags::empty()).map_err(Trouble::system("pidfd_open"))?;
        let stolen = pidfd_getfd(&sibling, number, PidfdGetfdFlags::empty()).map(drop);
        holds("the theft is refused", matches!(stolen, Err(Errno::PERM | Errno::NOSYS)), stolen)?;
        line.send(&(), &[], Deadline::after(PATIENCE))?;
        let (said, given) = line.recv(1, Deadline::after(PATIENCE))?;
        same("what comes with the descriptor", (said, given.len()), (Said::Given, 1))?;
        for descriptor in given {
            let mut file = std::fs::File::from(descriptor);
            let mut text = String::new();
            file.rewind().and_then(|()| file.read_to_string(&mut text)).map_err(Trouble::system("read"))?;
            same("what the descriptor leads to", text, "kept".to_owned())?;
        }
    }
    Ok(())
}

/// Gives up the right to trace others, where this process has it.
fn give_up_tracing() -> Result<(), Trouble> {
    let mut sets = capabilities(None).map_err(Trouble::system("capget"))?;
    sets.effective.remove(CapabilitySet::SYS_PTRACE);
    sets.permitted.remove(CapabilitySet::SYS_PTRACE);
    set_capabilities(None, sets).map_err(Trouble::system("capset"))
}
