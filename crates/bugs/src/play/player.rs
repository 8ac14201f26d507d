//! The side of a process that was started.

use std::time::Duration;

use peermap_driver::Driver;
use peermap_ipc::{Channel, Deadline, IpcError, TypedChannel};

use super::launch::Launch;
use super::protocol::Task;
use crate::entry::Verdict;
use crate::stage::{Open, Stage};
use crate::table::choose;
use crate::{helper, peer};

/// How long the task may take to come.
const TASK_TIME: Duration = Duration::from_secs(10);

/// Does what this process was started for. `open` loads the real driver, if entries are played on it.
///
/// # Errors
/// If the channel breaks.
pub fn player_main(channel: Channel, open: Option<Open>, launch: Launch) -> Result<(), IpcError> {
    let mut line: TypedChannel<(), Task> = TypedChannel::new(channel);
    let (task, _) = line.recv(0, Deadline::after(TASK_TIME))?;
    let channel = line.into_channel();
    match task {
        Task::Play { id, seed } => {
            let stage = match open {
                Some(open) => Stage::real(open, launch, seed),
                None => Stage::simulated(launch, seed),
            };
            let mut line: TypedChannel<Verdict, ()> = TypedChannel::new(channel);
            line.send(&verdict(&id, &stage), &[], Deadline::NEVER)
        }
        Task::Peer => peer::serve(channel, driver(open)),
        Task::Help(help) => helper::serve(channel, &help),
    }
}

fn verdict(id: &str, stage: &Stage) -> Verdict {
    match choose(&[id.to_owned()]).map(|chosen| chosen.first().map(|entry| entry.play_here(stage))) {
        Ok(Some(verdict)) => verdict,
        Ok(None) => Verdict::Failed("there are no entries".to_owned()),
        Err(unknown) => Verdict::Failed(unknown.to_string()),
    }
}

fn driver(open: Option<Open>) -> Result<Box<dyn Driver>, String> {
    open.map_or_else(|| Err("a second process is started on a real driver only".to_owned()), |open| open())
}
