//! Processes of entries that need no driver.

use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use peermap_ipc::{
    Barrier, BarrierError, Channel, Deadline, IpcError, Member, PrivateListener, SharedMemory, TypedChannel,
};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use serde::{Deserialize, Serialize};

use crate::trouble::Trouble;

/// What such a process is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Help {
    /// Meet the other members of a barrier until something is wrong. The barrier and a board with a word for each member come first.
    Member { member: u32, members: u32, patience_ms: u64 },
    /// Make what could leave something behind, say so, and wait to be killed.
    Leave,
    /// Have a file open that nobody may take, say under which number, and hand it over when asked.
    Keep,
}

/// What such a process says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    /// It has everything that it is for.
    Ready,
    /// It has a file under this number.
    Number(i32),
    /// It hands it over.
    Given,
    /// The barrier ended for it.
    Ended(Ended),
    /// It could not do what it is for.
    Failed(String),
}

/// How a barrier ends for a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ended {
    /// It passed before somebody else had come.
    Early { round: u32 },
    /// A member died, and the barrier stays unusable.
    Died { member: u32 },
    /// Members did not come in time, and the barrier stays unusable.
    Slow { missing: Vec<u32> },
    /// Something else.
    Otherwise(String),
}

/// How long another process may take to say something.
const PATIENCE: Duration = Duration::from_secs(30);

type Line = TypedChannel<Said, ()>;

/// Does what it is for.
pub(crate) fn serve(channel: Channel, help: &Help) -> Result<(), IpcError> {
    let mut line = Line::new(channel);
    let done = match *help {
        Help::Member { member, members, patience_ms } => {
            meet(&mut line, member, members, Duration::from_millis(patience_ms))
        }
        Help::Leave => leave(&mut line),
        Help::Keep => keep(&mut line),
    };
    match done {
        Ok(()) | Err(Trouble::Ipc(IpcError::PeerClosed)) => Ok(()),
        Err(trouble) => line.send(&Said::Failed(trouble.to_string()), &[], Deadline::after(PATIENCE)),
    }
}

fn meet(line: &mut Line, member: u32, members: u32, patience: Duration) -> Result<(), Trouble> {
    let ((), descriptors) = line.recv(2, Deadline::after(PATIENCE))?;
    let two: [OwnedFd; 2] =
        descriptors.try_into().map_err(|_| Trouble::not_here("a barrier and a board come together"))?;
    let [barrier, board] = two;
    let mut it = Barrier::join(barrier, member, members)?;
    let board = SharedMemory::from_fd(board, board_bytes(members))?;
    line.send(&Said::Ready, &[], Deadline::after(PATIENCE))?;
    let ended = meet_until_the_end(&mut it, &board, patience);
    Ok(line.send(&Said::Ended(ended), &[], Deadline::after(PATIENCE))?)
}

/// A word for each member: the round that it goes into.
pub(crate) const fn board_bytes(members: u32) -> usize {
    members as usize * size_of::<u32>()
}

fn meet_until_the_end(it: &mut Member, board: &SharedMemory, patience: Duration) -> Ended {
    for round in 1.. {
        board.atomics()[it.number() as usize].store(round, Ordering::Release);
        if let Err(error) = it.wait(Deadline::after(patience)) {
            let ended = Ended::from(error);
            // Whoever comes again must be told the same, and not wait.
            let again = it.wait(Deadline::after(patience)).map_or_else(Ended::from, |()| Ended::Early { round });
            return if again == ended { ended } else { Ended::Otherwise(format!("{ended:?}, and then {again:?}")) };
        }
        if board.atomics().iter().any(|other| other.load(Ordering::Acquire) < round) {
            return Ended::Early { round };
        }
    }
    Ended::Otherwise("there are no more numbers for rounds".to_owned())
}

impl From<BarrierError> for Ended {
    fn from(error: BarrierError) -> Self {
        match error {
            BarrierError::MemberDied { member } => Self::Died { member },
            BarrierError::TimedOut { missing } => Self::Slow { missing },
            other => Self::Otherwise(other.to_string()),
        }
    }
}

fn leave(line: &mut Line) -> Result<(), Trouble> {
    let memory = SharedMemory::create("left", 1 << 20)?;
    memory.atomics().iter().for_each(|word| word.store(1, Ordering::Relaxed));
    let barrier = Barrier::create("left", 2)?;
    let listener = PrivateListener::new()?;
    line.send(&Said::Ready, &[], Deadline::after(PATIENCE))?;
    // It is killed here; if it is not, the other end hangs up.
    let waited = line.recv(0, Deadline::after(PATIENCE)).map(drop);
    drop((memory, barrier, listener));
    Ok(waited?)
}

fn keep(line: &mut Line) -> Result<(), Trouble> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Trouble::system("prctl"))?;
    let mut file = tempfile::tempfile().map_err(Trouble::system("open"))?;
    file.write_all(b"kept").map_err(Trouble::system("write"))?;
    line.send(&Said::Number(file.as_raw_fd()), &[], Deadline::after(PATIENCE))?;
    line.recv(0, Deadline::after(PATIENCE))?;
    line.send(&Said::Given, &[file.as_fd()], Deadline::after(PATIENCE))?;
    Ok(line.recv(0, Deadline::after(PATIENCE)).map(drop)?)
}
