//! Ways for a process to reach its machine.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use peermap_driver::{DriverError, Result};
use peermap_ipc::{Deadline, IpcError, TypedChannel};
use peermap_model::{Answer, Ask, MachineLink, ProcessId, SharedWait};

use crate::host::MachineHost;
use crate::process::Inner;
use crate::protocol::{FromProcess, ToProcess};

/// The descriptors that lie beside the next question and beside the last answer.
#[derive(Default)]
pub(crate) struct Beside {
    attached: Option<OwnedFd>,
    pub(crate) received: Option<OwnedFd>,
}

/// A way to the machine that also carries descriptors, beside a question and beside an answer.
pub(crate) trait Link: MachineLink + Send {
    /// The descriptors on their way.
    fn beside(&mut self) -> &mut Beside;

    /// Puts a descriptor beside the next question.
    ///
    /// # Errors
    /// If it cannot be duplicated.
    fn attach(&mut self, descriptor: BorrowedFd<'_>) -> Result<()> {
        self.beside().attached = Some(duplicate(descriptor)?);
        Ok(())
    }

    /// Takes it away again, if the question was not asked.
    fn detach(&mut self) {
        self.beside().attached = None;
    }

    /// Takes the descriptor that lay beside the last answer.
    fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.beside().received.take()
    }

    /// Has the process that a mark is of run what comes before it. If that process lives in this OS process it is given
    /// instead, and the caller sees to it, once it holds no lock.
    fn urge(&mut self, mark: &SharedWait) -> Option<Arc<Inner>>;

    /// Has all other processes run what they have queued. Those that live in this OS process are given instead, as above.
    fn urge_all(&mut self) -> Vec<Arc<Inner>>;
}

fn duplicate(descriptor: BorrowedFd<'_>) -> Result<OwnedFd> {
    descriptor
        .try_clone_to_owned()
        .map_err(|error| DriverError::Host { what: format!("a descriptor could not be duplicated: {error}") })
}

/// A machine in the same OS process. The process ends when this is dropped.
pub(crate) struct DirectLink {
    host: Arc<Mutex<MachineHost>>,
    process: ProcessId,
    beside: Beside,
}

impl DirectLink {
    pub(crate) fn new(host: Arc<Mutex<MachineHost>>, process: ProcessId) -> Self {
        Self { host, process, beside: Beside::default() }
    }
}

impl MachineLink for DirectLink {
    fn ask(&mut self, ask: Ask) -> Result<Answer> {
        let attached = self.beside.attached.take();
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        let (answer, made) = host.answer(self.process, ask, attached.as_ref().map(AsFd::as_fd))?;
        self.beside.received = made;
        Ok(answer)
    }
}

impl Link for DirectLink {
    fn beside(&mut self) -> &mut Beside {
        &mut self.beside
    }

    fn urge(&mut self, mark: &SharedWait) -> Option<Arc<Inner>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner).process(mark.recorder)
    }

    fn urge_all(&mut self) -> Vec<Arc<Inner>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner).processes_but(self.process)
    }
}

impl Drop for DirectLink {
    fn drop(&mut self) {
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        // The only failure is that bytes could not be given back to the kernel; the machine's own state is right.
        drop(host.disconnect(self.process));
    }
}

/// How long a machine may take to answer. It answers as soon as it reads, so one that takes longer was stopped, or works on a
/// host with no time left; waiting on would only hide that.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// A machine in another OS process. It sees the hang-up when this is dropped, or when the process dies.
pub(crate) struct RemoteLink {
    channel: TypedChannel<FromProcess, ToProcess>,
    beside: Beside,
    /// Why the machine could not be reached, once: what it answers later may be the answer to the question given up.
    lost: Option<String>,
}

impl RemoteLink {
    pub(crate) fn new(channel: TypedChannel<FromProcess, ToProcess>) -> Self {
        Self { channel, beside: Beside::default(), lost: None }
    }

    fn exchange(
        &mut self,
        ask: Ask,
        beside: Option<&OwnedFd>,
    ) -> std::result::Result<(ToProcess, Vec<OwnedFd>), IpcError> {
        let beside: Vec<_> = beside.into_iter().map(AsFd::as_fd).collect();
        let deadline = Deadline::after(ANSWER_TIME);
        self.channel.send(&FromProcess::Ask(ask), &beside, deadline)?;
        self.channel.recv(1, deadline)
    }
}

impl RemoteLink {
    /// Says something that has no answer. A machine that cannot be told is gone; the next question says so.
    fn tell(&mut self, what: &FromProcess) {
        if self.lost.is_none() {
            drop(self.channel.send(what, &[], Deadline::after(ANSWER_TIME)));
        }
    }
}

impl MachineLink for RemoteLink {
    fn ask(&mut self, ask: Ask) -> Result<Answer> {
        let attached = self.beside.attached.take();
        if let Some(what) = &self.lost {
            return Err(DriverError::Host { what: what.clone() });
        }
        let (answer, mut received) = self.exchange(ask, attached.as_ref()).map_err(|error| {
            let what = format!("the simulated machine cannot be reached: {error}");
            self.lost = Some(what.clone());
            DriverError::Host { what }
        })?;
        self.beside.received = received.pop();
        match answer {
            ToProcess::Answer(answer) => Ok(answer),
            ToProcess::Failed(what) => Err(DriverError::Host { what }),
            ToProcess::Welcome { .. } | ToProcess::Memory => {
                Err(DriverError::Host { what: "the machine answered out of turn".to_owned() })
            }
        }
    }
}

impl Link for RemoteLink {
    fn beside(&mut self) -> &mut Beside {
        &mut self.beside
    }

    fn urge(&mut self, mark: &SharedWait) -> Option<Arc<Inner>> {
        self.tell(&FromProcess::Urge(*mark));
        None
    }

    fn urge_all(&mut self) -> Vec<Arc<Inner>> {
        self.tell(&FromProcess::UrgeAll);
        Vec::new()
    }
}
