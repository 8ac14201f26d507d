//! The suite `barrier`.

use peermap_ipc::limits::usable_cores;

use super::{Kind, Meeting};
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned, Suite};

/// The suite.
pub(crate) struct BarrierSuite;

const FULL: [u32; 4] = [2, 4, 8, 32];
const QUICK: [u32; 2] = [2, 8];

/// The most members on a core that spin: with more, a round takes as long as the kernel lets each of them spin in turn.
const MOST_SPINNING: usize = 8;

impl Suite for BarrierSuite {
    fn name(&self) -> &'static str {
        "barrier"
    }

    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
        let members: &[u32] = if rig.effort.quick { &QUICK } else { &FULL };
        let all = usable_cores();
        let mut cores = if rig.effort.quick { vec![all] } else { vec![1, all.min(2), all] };
        cores.dedup();
        let mut planned = Vec::new();
        for members in members {
            for cores in &cores {
                planned.extend([Kind::Sleeping, Kind::Spinning].map(|kind| group(rig, kind, *members, *cores)));
            }
        }
        planned
    }
}

fn group<'r>(rig: &'r Rig<'_>, kind: Kind, members: u32, cores: usize) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("round")],
        parameters: vec![
            ("barrier", kind.name().to_owned()),
            ("processes", members.to_string()),
            ("cores", cores.to_string()),
        ],
        make: Box::new(move || {
            if kind == Kind::Spinning && members as usize > MOST_SPINNING * cores {
                return Err(BenchError::NotHere(format!("no more than {MOST_SPINNING} processes spin on a core")));
            }
            // A round of spinning members that share cores takes milliseconds, and hardly varies.
            let rounds = if kind == Kind::Spinning && members as usize > cores { 2 } else { 20 };
            Ok(Box::new(Rounds { meeting: Meeting::start(rig.crew, kind, members, cores)?, rounds }))
        }),
    }
}

struct Rounds {
    meeting: Meeting,
    /// In one sample.
    rounds: u32,
}

impl Group for Rounds {
    /// The mean of a few rounds: each alone depends on which member came last.
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let rounds = self.meeting.rounds(self.rounds)?;
        Ok(vec![rounds.iter().sum::<f64>() / f64::from(self.rounds)])
    }
}
