//! What coordinator and player say to each other. Objects travel as JSON text, names of calls and results as the format
//! writes them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::{FabricHandle, IpcEventHandle, IpcMemHandle, MemPoolPtrExportData};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::describe::Description;
use crate::call::StepCall;
use crate::format::Step;
use crate::player::{Action, Got, Parcel, PlayError, Reason};
use crate::result::StepResult;
use crate::write::object_text;

/// What the coordinator wants of a player.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Make a call.
    Play(Task),
    /// Send what the step sends to the coordinator.
    Give(Task),
    /// Take this, under a name.
    Receive(String, SentParcel),
    /// Say what machine this is.
    Describe,
    /// End at once.
    Exit,
}

/// What a player says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// It has a driver.
    Ready,
    /// It could not get what it needs, and why.
    Failed(String),
    /// What came of a step.
    Did(SentGot),
    /// What the step sends.
    Gave(SentParcel),
    /// It has taken what it was sent.
    Received,
    /// What machine this is.
    Is(Description),
}

/// The part of a step that its process needs to know.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    call: String,
    arguments: String,
    name: Option<String>,
}

impl From<&Step> for Task {
    fn from(step: &Step) -> Self {
        Self { call: step.call.name().to_owned(), arguments: object_text(&step.arguments), name: step.name.clone() }
    }
}

impl Task {
    /// Reads the task, and does something with it. `None`: it is no task of the format.
    pub(super) fn read<T>(&self, does: impl FnOnce(Action<'_>) -> T) -> Option<T> {
        let call = StepCall::from_name(&self.call)?;
        let arguments: Map<String, Json> = serde_json::from_str(&self.arguments).ok()?;
        Some(does(Action { call, arguments: &arguments, name: self.name.as_deref() }))
    }
}

/// A [`Parcel`]; a descriptor travels beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum SentParcel {
    Descriptor,
    Fabric(Vec<u8>),
    Legacy(Vec<u8>),
    EventHandle(Vec<u8>),
    PoolPointer(Vec<u8>),
}

impl From<&Parcel> for SentParcel {
    fn from(parcel: &Parcel) -> Self {
        match parcel {
            Parcel::Descriptor(_) => Self::Descriptor,
            Parcel::Fabric(handle) => Self::Fabric(handle.0.to_vec()),
            Parcel::Legacy(handle) => Self::Legacy(handle.0.to_vec()),
            Parcel::EventHandle(handle) => Self::EventHandle(handle.0.to_vec()),
            Parcel::PoolPointer(data) => Self::PoolPointer(data.0.to_vec()),
        }
    }
}

impl SentParcel {
    /// The parcel with what came beside it. `None`: they do not fit.
    pub(super) fn unpack(self, beside: Vec<OwnedFd>) -> Option<Parcel> {
        match self {
            Self::Descriptor => beside.into_iter().next().map(Parcel::Descriptor),
            Self::Fabric(bytes) => bytes.try_into().ok().map(FabricHandle).map(Parcel::Fabric),
            Self::Legacy(bytes) => bytes.try_into().ok().map(IpcMemHandle).map(Parcel::Legacy),
            Self::EventHandle(bytes) => bytes.try_into().ok().map(IpcEventHandle).map(Parcel::EventHandle),
            Self::PoolPointer(bytes) => bytes.try_into().ok().map(MemPoolPtrExportData).map(Parcel::PoolPointer),
        }
    }
}

/// What travels beside a parcel.
pub(super) fn beside(parcel: &Parcel) -> Vec<BorrowedFd<'_>> {
    match parcel {
        Parcel::Descriptor(fd) => vec![fd.as_fd()],
        Parcel::Fabric(_) | Parcel::Legacy(_) | Parcel::EventHandle(_) | Parcel::PoolPointer(_) => Vec::new(),
    }
}

/// A [`Got`] of a player. What is wrong with a step arrives in words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum SentGot {
    Answer { result: String, out: Option<String>, reason: Option<Box<Reason>> },
    WouldCrash(Box<Reason>),
    WouldHang(Box<Reason>),
    NotModelled(String),
    Host(String),
    NotPlayed(String),
}

impl From<Got> for SentGot {
    fn from(got: Got) -> Self {
        let complaint = got.complaint().unwrap_or_default();
        match got {
            Got::Answer { result, out, reason } => {
                Self::Answer { result: result.to_string(), out: out.as_ref().map(object_text), reason }
            }
            Got::WouldCrash(reason) => Self::WouldCrash(reason),
            Got::WouldHang(reason) => Self::WouldHang(reason),
            Got::NotModelled { what } => Self::NotModelled(what),
            Got::Host { what } => Self::Host(what),
            Got::NotPlayed(_) | Got::Crashed(_) | Got::TimedOut { .. } | Got::Died(_) => Self::NotPlayed(complaint),
        }
    }
}

impl SentGot {
    /// What came of a step with this call. `None`: the player talks nonsense.
    pub(super) fn unpack(self, call: StepCall) -> Option<Got> {
        Some(match self {
            Self::Answer { result, out, reason } => {
                let out = out.map(|text| serde_json::from_str(&text)).transpose().ok()?;
                Got::Answer { result: StepResult::from_name(call, &result)?, out, reason }
            }
            Self::WouldCrash(reason) => Got::WouldCrash(reason),
            Self::WouldHang(reason) => Got::WouldHang(reason),
            Self::NotModelled(what) => Got::NotModelled { what },
            Self::Host(what) => Got::Host { what },
            Self::NotPlayed(why) => Got::NotPlayed(PlayError::Elsewhere { why }),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_make_coordinator_or_player_panic(bytes in vec(prop_oneof![6 => 0u8..8, 1 => any::<u8>()], 0..200)) {
            let call = StepCall::from_name("cuMemCreate").expect("a call of the format");
            drop((postcard::from_bytes::<Order>(&bytes), postcard::from_bytes::<Report>(&bytes)));
            let _: Option<()> = postcard::from_bytes::<Task>(&bytes).ok().and_then(|task| task.read(|_| ()));
            drop(postcard::from_bytes::<SentParcel>(&bytes).ok().and_then(|parcel| parcel.unpack(Vec::new())));
            drop(postcard::from_bytes::<SentGot>(&bytes).ok().and_then(|got| got.unpack(call)));
        }
    }
}
