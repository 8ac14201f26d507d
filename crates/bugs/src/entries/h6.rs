//! H6: one lost reply at start-up, and everybody waited for ever.
//!
//! Between a client and a service a stranger drops, doubles, delays or cuts each message in turn, in either direction, or the service
//! fails at its work. Each time the client has an answer to its very question or an error, within its deadline.

use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::{Shutdown, shutdown};
use peermap_ipc::{Channel, Deadline, IpcError, TypedChannel};
use serde::{Deserialize, Serialize};

use crate::expect::{holds, same};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How many questions a client has.
const QUESTIONS: u32 = 3;

/// How long it waits for an answer.
const PATIENCE: Duration = Duration::from_millis(25);

/// How long where nothing is lost.
const ENOUGH: Duration = Duration::from_secs(20);

/// How much longer than that it may take on a busy host.
const SLACK: Duration = Duration::from_secs(5);

/// What happens to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Lost,
    Doubled,
    Late,
    Cut,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Reply {
    /// The descriptor comes beside it.
    Descriptor {
        of: u32,
    },
    Failed {
        of: u32,
        why: String,
    },
}

pub(crate) fn play(_stage: &Stage) -> Result<(), Trouble> {
    for number in 0..QUESTIONS {
        for fault in [Fault::Lost, Fault::Doubled, Fault::Late, Fault::Cut] {
            for to_client in [false, true] {
                ask_through(fault, number, to_client)?;
            }
        }
        same("answers of a service that fails at its work", ask_directly(number)?, QUESTIONS)?;
    }
    Ok(())
}

/// Asks through a stranger with a fault in the message of a number in one direction.
fn ask_through(fault: Fault, number: u32, to_client: bool) -> Result<(), Trouble> {
    let (client, near) = Channel::pair()?;
    let (far, service) = Channel::pair()?;
    let start = Instant::now();
    let (near, far) = (&near, &far);
    let answered = thread::scope(|scope| {
        scope.spawn(move || serve(service, None));
        let with = |meant: bool| meant.then_some((fault, number));
        let back = with(to_client);
        let there = with(!to_client);
        scope.spawn(move || pass_on(near, far, there));
        scope.spawn(move || pass_on(far, near, back));
        ask(client, PATIENCE)
    })?;
    holds("the wait ends with its deadline", start.elapsed() < PATIENCE * (QUESTIONS + 2) + SLACK, start.elapsed())?;
    // What was doubled is answered once, and noticed with the next.
    let most = number + u32::from(fault == Fault::Doubled);
    holds("no answer comes after the fault", answered <= most, (fault, number, to_client, answered))
}

/// Asks a service that fails at one question; every question is answered.
fn ask_directly(failing: u32) -> Result<u32, Trouble> {
    let (client, service) = Channel::pair()?;
    thread::scope(|scope| {
        scope.spawn(move || serve(service, Some(failing)));
        ask(client, ENOUGH)
    })
}

/// Asks one question after the other, until an error; how many were answered. An answer to another question is trouble.
fn ask(channel: Channel, patience: Duration) -> Result<u32, Trouble> {
    let mut line: TypedChannel<u32, Reply> = TypedChannel::new(channel);
    for question in 0..QUESTIONS {
        let deadline = Deadline::after(patience);
        let answer = line.send(&question, &[], deadline).and_then(|()| line.recv(1, deadline));
        match answer {
            Ok((Reply::Descriptor { of }, beside)) => same("the answer", (of, beside.len()), (question, 1))?,
            Ok((Reply::Failed { of, why }, beside)) => {
                same("the failure", (of, beside.len(), why.is_empty()), (question, 0, false))?;
            }
            Err(IpcError::TimedOut | IpcError::PeerClosed | IpcError::Packet(_)) => return Ok(question),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(QUESTIONS)
}

/// Answers each question with a descriptor, or says why not.
fn serve(channel: Channel, failing: Option<u32>) {
    let mut line: TypedChannel<Reply, u32> = TypedChannel::new(channel);
    while let Ok((question, _)) = line.recv(0, Deadline::NEVER) {
        let deadline = Deadline::after(PATIENCE);
        let sent = if failing == Some(question) {
            let why = "the export was refused".to_owned();
            line.send(&Reply::Failed { of: question, why }, &[], deadline)
        } else {
            let file = tempfile::tempfile();
            let beside: Vec<_> = file.iter().map(AsFd::as_fd).collect();
            line.send(&Reply::Descriptor { of: question }, &beside, deadline)
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Passes messages on, one of them with a fault; hangs up on both sides when it ends.
fn pass_on(from: &Channel, to: &Channel, fault: Option<(Fault, u32)>) {
    let mut number = 0;
    while let Ok(message) = from.recv(1, Deadline::after(PATIENCE * (QUESTIONS + 2))) {
        let descriptors: Vec<_> = message.fds.iter().map(AsFd::as_fd).collect();
        let send = || to.send(&message.payload, &descriptors, Deadline::after(PATIENCE));
        let passed = match fault.filter(|(_, meant)| *meant == number) {
            Some((Fault::Lost, _)) => Ok(()),
            Some((Fault::Doubled, _)) => send().and_then(|()| send()),
            Some((Fault::Late, _)) => {
                thread::sleep(PATIENCE * 2);
                send()
            }
            Some((Fault::Cut, _)) => Err(IpcError::PeerClosed),
            None => send(),
        };
        if passed.is_err() {
            break;
        }
        number += 1;
    }
    for side in [from, to] {
        // A side that has hung up already is as good.
        let _ = shutdown(side.as_fd().as_raw_fd(), Shutdown::Both);
    }
}
