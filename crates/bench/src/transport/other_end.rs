//! A thread that answers what comes over a channel.

use std::thread::{self, JoinHandle};

use peermap_ipc::Channel;

use crate::error::BenchError;

/// The other end of a channel: a thread that ends with this.
pub(super) struct OtherEnd {
    channel: Option<Channel>,
    thread: Option<JoinHandle<()>>,
}

impl OtherEnd {
    /// Starts a thread that answers until the channel hangs up, which is an error like any other to it.
    pub(super) fn start(answer: fn(&Channel) -> Result<(), BenchError>) -> Result<Self, BenchError> {
        let (channel, theirs) = Channel::pair()?;
        let thread = thread::spawn(move || drop(answer(&theirs)));
        Ok(Self { channel: Some(channel), thread: Some(thread) })
    }

    /// This end.
    pub(super) fn channel(&self) -> &Channel {
        self.channel.as_ref().expect("it is there until this is dropped")
    }
}

impl Drop for OtherEnd {
    fn drop(&mut self) {
        // The hang-up ends the thread.
        self.channel = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
