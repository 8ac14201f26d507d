//! What can go wrong on a channel.

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};

use crate::packet::PacketError;

/// An error of a [`Channel`](crate::Channel) or a [`TypedChannel`](crate::TypedChannel).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IpcError {
    /// The other side closed its end or its process ended.
    #[error("the peer closed the channel")]
    PeerClosed,
    /// The deadline passed first.
    #[error("the deadline passed before the channel was ready")]
    TimedOut,
    /// A message of no bytes, which a receiver could not tell from a hang-up.
    #[error("a message needs at least one byte of payload")]
    EmptyPayload,
    /// More payload than a message may have.
    #[error(
        "a payload of {len} bytes is over the maximum of {max} bytes a message; send it in parts or through shared memory"
    )]
    PayloadTooLarge {
        /// Bytes given.
        len: usize,
        /// [`MAX_PAYLOAD`](crate::MAX_PAYLOAD).
        max: usize,
    },
    /// The peer sent more payload than a message may have. The rest of that message is lost.
    #[error("the peer sent a message of more than {max} bytes")]
    PayloadTruncated {
        /// [`MAX_PAYLOAD`](crate::MAX_PAYLOAD).
        max: usize,
    },
    /// More descriptors than one message can carry.
    #[error("{given} descriptors are over the kernel's maximum of {max} a message; send them in batches")]
    TooManyDescriptors {
        /// Descriptors given.
        given: usize,
        /// [`MAX_FDS_PER_MESSAGE`](crate::MAX_FDS_PER_MESSAGE).
        max: usize,
    },
    /// A batch size that is zero or more than one message can carry.
    #[error("a batch of {given} descriptors is not between 1 and {max}")]
    BatchSize {
        /// The batch size given.
        given: usize,
        /// [`MAX_FDS_PER_MESSAGE`](crate::MAX_FDS_PER_MESSAGE).
        max: usize,
    },
    /// The message carried more descriptors than the receiver accepts. They were closed.
    #[error("the peer sent {received} descriptors where at most {accepted} were expected")]
    UnexpectedDescriptors {
        /// Descriptors in the message.
        received: usize,
        /// What the receiver said it accepts.
        accepted: usize,
    },
    /// The kernel dropped descriptors of a received message (`MSG_CTRUNC`). Those that did arrive were closed.
    #[error(
        "the kernel delivered only {received} descriptors of a message and dropped the rest, \
         because this process may have no more than {limit} files open; raise the limit with `ulimit -n`"
    )]
    DescriptorsTruncated {
        /// Descriptors that arrived before the kernel gave up.
        received: usize,
        /// The soft `RLIMIT_NOFILE` of this process.
        limit: u64,
    },
    /// The user has too many descriptors in messages that nobody has received yet (`ETOOMANYREFS`).
    #[error(
        "this user has more than {limit} descriptors sent but not yet received; \
         send smaller batches, let the peer receive first, or raise the limit with `ulimit -n`"
    )]
    DescriptorsInFlight {
        /// The soft `RLIMIT_NOFILE` of this process, which bounds the descriptors in flight too.
        limit: u64,
    },
    /// This process has no descriptor number left (`EMFILE`).
    #[error(
        "{call} failed because this process already has its {limit} files open; close some or raise the limit with `ulimit -n`"
    )]
    OpenFilesExhausted {
        /// The system call.
        call: &'static str,
        /// The soft `RLIMIT_NOFILE` of this process.
        limit: u64,
    },
    /// The descriptor is not an `AF_UNIX` socket of type `SOCK_SEQPACKET`.
    #[error(
        "the descriptor is no Unix packet socket: domain {domain}, type {kind} (expected {} and {})",
        libc::AF_UNIX,
        libc::SOCK_SEQPACKET
    )]
    NotAPacketSocket {
        /// `SO_DOMAIN` of the socket.
        domain: i32,
        /// `SO_TYPE` of the socket.
        kind: i32,
    },
    /// Whoever is at the other end of a connection is not the one whose address it was.
    #[error(
        "whoever listens at this address is another user or does not know all of the address; ask again who told it"
    )]
    NotWhoWasMeant,
    /// The bytes of a message are not the packet that was expected.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// A system call failed in a way that has no variant of its own.
    #[error("{call} failed")]
    System {
        /// The system call.
        call: &'static str,
        /// Its error number.
        source: Errno,
    },
}

impl IpcError {
    /// Gives the error numbers that a user can do something about their own variants.
    pub(crate) fn from_call(call: &'static str, errno: Errno) -> Self {
        match errno {
            Errno::EPIPE | Errno::ECONNRESET => Self::PeerClosed,
            Errno::EMFILE => Self::with_limit(|limit| Self::OpenFilesExhausted { call, limit }),
            Errno::ETOOMANYREFS => Self::with_limit(|limit| Self::DescriptorsInFlight { limit }),
            source => Self::System { call, source },
        }
    }

    /// Builds an error that names the limit on open files.
    pub(crate) fn with_limit(build: impl FnOnce(u64) -> Self) -> Self {
        match getrlimit(Resource::RLIMIT_NOFILE) {
            Ok((soft, _)) => build(soft),
            Err(source) => Self::System { call: "getrlimit", source },
        }
    }
}
