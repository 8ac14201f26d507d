//! Those who have come and have not shown yet that they know the address.

use std::collections::VecDeque;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use crate::token::Token;
use crate::{Channel, Deadline, IpcError};

/// How long a visitor may stand there. Who knows the address shows it at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many may stand there at once. The one that stands there longest makes way for the next.
const ROOM: usize = 64;

/// Those who have come, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Doorstep(VecDeque<Visitor>);

#[derive(Debug)]
struct Visitor {
    channel: Channel,
    until: Deadline,
}

impl Doorstep {
    pub(super) fn add(&mut self, channel: Channel) {
        while self.0.len() >= ROOM {
            self.0.pop_front();
        }
        self.0.push_back(Visitor { channel, until: Deadline::after(PATIENCE) });
    }

    /// When the first of them will have stood there too long.
    pub(super) fn next_to_go(&self) -> Deadline {
        self.0.front().map_or(Deadline::NEVER, |visitor| visitor.until)
    }

    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().map(|visitor| visitor.channel.as_fd())
    }

    /// The first who shows the secret. Those who show anything else, and those who have stood there too long, are sent away.
    pub(super) fn who_shows(&mut self, secret: &Token) -> Option<Channel> {
        let mut known = None;
        for visitor in mem::take(&mut self.0) {
            let shown = known.is_none().then(|| visitor.channel.recv(0, Deadline::after(Duration::ZERO)));
            match shown {
                Some(Ok(shown)) if secret.is(&shown.payload) => known = Some(visitor.channel),
                None => self.0.push_back(visitor),
                Some(Err(IpcError::TimedOut)) if !visitor.until.has_passed() => self.0.push_back(visitor),
                Some(_) => {}
            }
        }
        known
    }
}
