//! I6: one rank stalled, and the barrier of all others waited for hours without a word.
//!
//! A member is killed or stopped before, inside or after its step, at random moments. Nobody passes early. The others end with an error that
//! names it, at once if it died and with their deadline if it is only slow, and the barrier stays unusable for all.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use peermap_ipc::{Barrier, Child, Deadline, SharedMemory, TypedChannel};

use crate::expect::same;
use crate::helper::{Ended, Help, Said, board_bytes};
use crate::play::Task;
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How many meet.
const MEMBERS: u32 = 3;

/// How long a member waits for the others if one is stopped, and if one is killed: long enough for a busy host.
const SOON: Duration = Duration::from_millis(1000);
const LATE: Duration = Duration::from_secs(30);

/// How long everything may take.
const PATIENCE: Duration = Duration::from_secs(45);

/// What happens to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Killed,
    Stopped,
}

struct Crew {
    barrier: Barrier,
    board: SharedMemory,
    members: Vec<(TypedChannel<(), Said>, Child)>,
}

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    for fate in [Fate::Killed, Fate::Killed, Fate::Killed, Fate::Stopped] {
        let lost = random.u32(0..MEMBERS);
        // A member that has not begun is one that is hit before its first step.
        let begins = random.u8(0..4) > 0;
        let mut crew = Crew::gather(stage, if fate == Fate::Killed { LATE } else { SOON })?;
        crew.begin((0..MEMBERS).filter(|member| begins || *member != lost))?;
        thread::sleep(Duration::from_micros(random.u64(0..3000)));
        crew.hit(lost, fate)?;
        crew.ends(lost, fate)?;
    }
    Ok(())
}

impl Crew {
    fn gather(stage: &Stage, patience: Duration) -> Result<Self, Trouble> {
        let patience_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let start = |member| {
            let help = Help::Member { member, members: MEMBERS, patience_ms };
            let (channel, child) = stage.launch().start(&Task::Help(help), None)?;
            Ok::<_, Trouble>((TypedChannel::new(channel), child))
        };
        Ok(Self {
            barrier: Barrier::create("stalled", MEMBERS)?,
            board: SharedMemory::create("board", board_bytes(MEMBERS))?,
            members: (0..MEMBERS).map(start).collect::<Result<_, _>>()?,
        })
    }

    /// Has members begin to meet.
    fn begin(&mut self, begins: impl Iterator<Item = u32>) -> Result<(), Trouble> {
        for member in begins {
            let (line, _) = &mut self.members[member as usize];
            line.send(&(), &[self.barrier.as_fd(), self.board.as_fd()], Deadline::after(PATIENCE))?;
            same("a member that begins", line.recv(0, Deadline::after(PATIENCE))?.0, Said::Ready)?;
        }
        Ok(())
    }

    fn hit(&mut self, lost: u32, fate: Fate) -> Result<(), Trouble> {
        let (_, child) = &mut self.members[lost as usize];
        match fate {
            Fate::Killed => {
                child.kill()?;
                child.wait(Deadline::after(PATIENCE))?;
                Ok(self.barrier.poison(lost)?)
            }
            Fate::Stopped => {
                let pid = Pid::from_raw(i32::try_from(child.pid()).unwrap_or(i32::MAX));
                kill(pid, Signal::SIGSTOP).map_err(Trouble::system("kill"))
            }
        }
    }

    /// All others must end, and name the one that is lost.
    fn ends(&mut self, lost: u32, fate: Fate) -> Result<(), Trouble> {
        let expected = match fate {
            Fate::Killed => Ended::Died { member: lost },
            Fate::Stopped => Ended::Slow { missing: vec![lost] },
        };
        let others = self.members.iter_mut().zip(0..).filter(|(_, member)| *member != lost);
        for ((line, _), _) in others {
            let said = line.recv(0, Deadline::after(PATIENCE))?.0;
            same("how the barrier ends for the others", said, Said::Ended(expected.clone()))?;
        }
        let rounds: Vec<u32> = self.board.atomics().iter().map(|round| round.load(Ordering::Acquire)).collect();
        let spread = rounds.iter().max().zip(rounds.iter().min()).map_or(0, |(most, least)| most - least);
        same("nobody is more than a round ahead", spread <= 1, true)
    }
}
