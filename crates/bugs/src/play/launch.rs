//! How further processes are started.

use std::path::PathBuf;
use std::time::Duration;

use peermap_ipc::{Channel, Child, Deadline, IpcError, Output, Spawn, TypedChannel};

use super::protocol::Task;
use crate::trouble::Trouble;

/// The descriptor of a process's channel.
const CHANNEL: i32 = 3;

/// How long a process may take to start.
const START_TIME: Duration = Duration::from_secs(10);

/// How further processes are started: the executable, and the arguments that make it call
/// [`player_main`](crate::player_main) with descriptor 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The executable.
    pub exe: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Launch {
    /// Starts a process and gives it its task. Its channel carries what the task says from then on.
    pub(crate) fn start(&self, task: &Task, visible: Option<&str>) -> Result<(Channel, Child), Trouble> {
        let spawn = Spawn::new(&self.exe).arg0("peermap").args(&self.args).stdout(Output::Null);
        let spawn = visible.into_iter().fold(spawn, |spawn, devices| spawn.env("CUDA_VISIBLE_DEVICES", devices));
        let (spawn, ours) = spawn.connect(CHANNEL)?;
        let child = spawn.spawn()?;
        // One packet for the task; what follows is another conversation, with numbers of its own.
        let mut line: TypedChannel<Task, ()> = TypedChannel::new(ours);
        match line.send(task, &[], Deadline::after(START_TIME)) {
            // One that is gone already is noticed by whoever listens to it.
            Ok(()) | Err(IpcError::PeerClosed) => {}
            Err(error) => return Err(error.into()),
        }
        Ok((line.into_channel(), child))
    }
}
