//! MPI as the transport of handles.
//!
//! Ranks speak in rounds: in each, every rank gives a handle or nothing, says whether it goes on, and hears the same of all
//! others. A rank that cannot go on says so in the next round, so nobody waits for it. A round that is not over in time ends
//! the job: MPI has no way to leave one.

use std::time::Duration;

use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};
use peermap_driver::{FabricHandle, ShareableHandle};
use peermap_ipc::Deadline;
use peermap_report::ExitCode;
use peermap_scenario::{Meet, Transport, TransportError};

use crate::show;

/// What a rank gives in a round: a handle, and whether it goes on.
const HANDLE: usize = 64;
const PART: usize = HANDLE + 1;
const GOES_ON: u8 = 1;

/// How long a rank sleeps before it looks again whether a round is over.
const NAP: Duration = Duration::from_micros(50);

/// The ranks of the job.
pub(super) struct Engine {
    world: SimpleCommunicator,
    /// The first rank that cannot go on; there are no more rounds then.
    failed: Option<u32>,
    /// MPI ends with this.
    _universe: Universe,
}

impl Engine {
    /// Starts MPI in this process, unless that was done before.
    pub(super) fn start() -> Option<Self> {
        // Other threads of the process make no call of MPI.
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(Self { world: universe.world(), failed: None, _universe: universe })
    }

    pub(super) fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    pub(super) fn ranks(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    /// The number of this rank among those of its host.
    pub(super) fn rank_on_host(&self) -> u32 {
        self.world.split_shared(self.world.rank()).rank().unsigned_abs()
    }

    /// Ends all ranks.
    pub(super) fn abort(&self, code: ExitCode) -> ! {
        self.world.abort(i32::from(code.code()))
    }

    /// Gives what rank 0 has to all.
    pub(super) fn broadcast(&self, bytes: &mut [u8]) {
        self.world.process_at_rank(0).broadcast_into(bytes);
    }

    /// Gives to rank 0 what all ranks have.
    pub(super) fn gather(&self, own: &[u8]) -> Option<Vec<Vec<u8>>> {
        let root = self.world.process_at_rank(0);
        let length = i32::try_from(own.len()).unwrap_or(i32::MAX);
        if self.rank() != 0 {
            root.gather_into(&length);
            root.gather_varcount_into(own);
            return None;
        }
        let mut lengths = vec![0; self.ranks() as usize];
        root.gather_into_root(&length, &mut lengths[..]);
        let starts: Vec<i32> =
            lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length))).collect();
        let mut all = vec![0; lengths.iter().map(|length| length.unsigned_abs() as usize).sum()];
        root.gather_varcount_into_root(own, &mut PartitionMut::new(&mut all[..], &lengths[..], &starts[..]));
        let mut rest = &all[..];
        let cut = |length: &i32| rest.split_off(..length.unsigned_abs() as usize).unwrap_or_default().to_vec();
        Some(lengths.iter().map(cut).collect())
    }

    /// The exit code that rank 0 has.
    pub(super) fn agree(&self, code: ExitCode) -> ExitCode {
        let mut number = [code.code()];
        self.broadcast(&mut number);
        ExitCode::ALL.iter().copied().find(|known| known.code() == number[0]).unwrap_or(ExitCode::Unexpected)
    }

    /// A round. Gives the handles of all ranks.
    fn round(
        &mut self,
        own: [u8; HANDLE],
        goes_on: bool,
        deadline: Deadline,
    ) -> Result<Vec<[u8; HANDLE]>, TransportError> {
        if let Some(rank) = self.failed {
            return Err(TransportError::RankFailed { rank });
        }
        let mut given = [0; PART];
        given[..HANDLE].copy_from_slice(&own);
        given[HANDLE] = if goes_on { GOES_ON } else { 0 };
        let mut all = vec![0; PART * self.ranks() as usize];
        mpi::request::scope(|scope| {
            let mut request = self.world.immediate_all_gather_into(scope, &given[..], &mut all[..]);
            while let Err(pending) = request.test() {
                if deadline.has_passed() {
                    show::complaint(&format!("rank {}: {}", self.rank(), TransportError::TimedOut));
                    self.abort(ExitCode::WorkerLost);
                }
                std::thread::sleep(NAP);
                request = pending;
            }
        });
        let (parts, _) = all.as_chunks::<PART>();
        self.failed = (0..).zip(parts).find(|(_, part)| part[HANDLE] != GOES_ON).map(|(rank, _)| rank);
        match self.failed {
            Some(rank) => Err(TransportError::RankFailed { rank }),
            None => Ok(parts.iter().map(|part| std::array::from_fn(|index| part[index])).collect()),
        }
    }
}

impl Meet for Engine {
    fn meet(&mut self, deadline: Deadline) -> Result<(), TransportError> {
        self.round([0; HANDLE], true, deadline).map(drop)
    }
}

impl Transport for Engine {
    fn exchange(
        &mut self,
        own: Option<&ShareableHandle>,
        deadline: Deadline,
    ) -> Result<Vec<ShareableHandle>, TransportError> {
        let own = match own {
            Some(ShareableHandle::Fabric(handle)) => handle.0,
            Some(_) => return Err(TransportError::NotCarried { what: "a handle of one host", how: "by MPI" }),
            None => [0; HANDLE],
        };
        let all = self.round(own, true, deadline)?;
        Ok(all.into_iter().map(|handle| ShareableHandle::Fabric(FabricHandle(handle))).collect())
    }

    fn give_up(&mut self, deadline: Deadline) {
        // That a rank failed is what this is to say.
        drop(self.round([0; HANDLE], false, deadline));
    }
}
