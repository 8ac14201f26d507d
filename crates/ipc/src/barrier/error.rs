//! What can go wrong at a barrier.

use nix::errno::Errno;

use crate::ShmError;

/// Why a member did not pass the barrier, or could not use it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BarrierError {
    /// The supervisor said that a member has died. The barrier stays unusable.
    #[error("member {member} of the barrier died")]
    MemberDied {
        /// The member that died.
        member: u32,
    },
    /// The deadline of a member passed while others were missing. The barrier stays unusable for everybody.
    #[error("the deadline passed at the barrier; members that did not arrive: {missing:?}")]
    TimedOut {
        /// The members that had not arrived, in ascending order.
        missing: Vec<u32>,
    },
    /// Somebody has arrived under this number in this round already.
    #[error("member {member} arrived twice in one round; each process needs a number of its own")]
    ArrivedTwice {
        /// The number used twice.
        member: u32,
    },
    /// A member number that the barrier does not have.
    #[error("there is no member {member} in a barrier of {members}")]
    NoSuchMember {
        /// The number given; members count from 0.
        member: u32,
        /// Members of the barrier.
        members: u32,
    },
    /// A barrier of no members or of too many.
    #[error("a barrier of {members} members is not between 1 and {max}")]
    BadMemberCount {
        /// Members asked for.
        members: u32,
        /// [`MAX_MEMBERS`](super::MAX_MEMBERS).
        max: u32,
    },
    /// The barrier was made for another number of members.
    #[error("the barrier has {found} members where {expected} were expected")]
    WrongMemberCount {
        /// Members expected.
        expected: u32,
        /// Members in the barrier's header.
        found: u32,
    },
    /// The shared memory holds something else.
    #[error("the shared memory begins with {found:#010x}, which is no barrier of this version")]
    NotABarrier {
        /// The first word.
        found: u32,
    },
    /// The shared memory could not be made or taken.
    #[error("the shared memory of the barrier cannot be used")]
    Memory(#[from] ShmError),
    /// A system call failed.
    #[error("{call} failed")]
    System {
        /// The system call.
        call: &'static str,
        /// Its error number.
        source: Errno,
    },
}
