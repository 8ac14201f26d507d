//! The player: one process of a trace.

use peermap_driver::Driver;
use peermap_ipc::{Channel, Deadline, IpcError, TypedChannel, exit_now};

use super::describe::Description;
use super::protocol::{Order, Report, SentParcel, Task, beside};
use crate::player::{Got, Numbers, Parcel, PlayError, Process};

type Line = TypedChannel<Report, Order>;

/// Plays one process of a trace: does what the coordinator at the other end of the channel says, until it hangs up.
///
/// # Errors
/// If the channel breaks.
pub fn player_main(channel: Channel, open: impl FnOnce() -> Result<Box<dyn Driver>, String>) -> Result<(), IpcError> {
    let mut line = Line::new(channel);
    let driver = match open() {
        Ok(driver) => driver,
        Err(why) => return say(&mut line, &Report::Failed(why)),
    };
    say(&mut line, &Report::Ready)?;
    let mut process = Process::new(driver, Numbers::Own);
    loop {
        let (order, beside) = match line.recv(1, Deadline::NEVER) {
            Ok(received) => received,
            Err(IpcError::PeerClosed) => return Ok(()),
            Err(error) => return Err(error),
        };
        match order {
            Order::Play(task) => say(&mut line, &Report::Did(play(&mut process, &task).into()))?,
            Order::Give(task) => give(&mut line, &process, &task)?,
            Order::Receive(name, parcel) => {
                let report = receive(&mut process, &name, parcel.unpack(beside));
                say(&mut line, &report)?;
            }
            Order::Describe => {
                let report = match Description::of(process.driver()) {
                    Ok(description) => Report::Is(description),
                    Err(error) => Report::Failed(error.to_string()),
                };
                say(&mut line, &report)?;
            }
            Order::Exit => exit_now(0),
        }
    }
}

fn say(line: &mut Line, report: &Report) -> Result<(), IpcError> {
    line.send(report, &[], Deadline::NEVER)
}

fn play(process: &mut Process, task: &Task) -> Got {
    task.read(|action| process.play(action)).unwrap_or_else(nonsense)
}

fn give(line: &mut Line, process: &Process, task: &Task) -> Result<(), IpcError> {
    let given: Result<Parcel, Got> = task.read(|action| process.give(action)).unwrap_or_else(|| Err(nonsense()));
    match given {
        Ok(parcel) => line.send(&Report::Gave(SentParcel::from(&parcel)), &beside(&parcel), Deadline::NEVER),
        Err(got) => say(line, &Report::Did(got.into())),
    }
}

fn receive(process: &mut Process, name: &str, parcel: Option<Parcel>) -> Report {
    match parcel {
        Some(parcel) => {
            process.receive(name, parcel);
            Report::Received
        }
        None => Report::Did(nonsense().into()),
    }
}

/// What comes of an order that no coordinator of this build gives.
fn nonsense() -> Got {
    Got::NotPlayed(PlayError::Elsewhere {
        why: "the coordinator asked for something that the format has not".to_owned(),
    })
}
