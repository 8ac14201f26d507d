//! What launches of one process did to memory while they were under way together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use peermap_memory::View;

use crate::block::frame::thread_of;
use crate::check::finding::{Party, Writer};
use crate::check::order::{Order, Time};
use crate::check::written::{Event, Run, Written};
use crate::grid::{Dim, block_of};
use crate::kernel::Lines;

/// What the launches of a process wrote, as long as one of them has not ended. Launches that may run at the same time share it.
#[derive(Debug, Default)]
pub struct History(Mutex<Known>);

/// The number of a launch in a history, or of a copy.
pub(super) type LaunchId = u64;

#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) order: Order,
    pub(super) device: Written,
    pub(super) launches: Launches,
    last: LaunchId,
}

/// The launches that wrote what is known, or may yet read it.
#[derive(Debug, Default)]
pub(super) struct Launches {
    known: BTreeMap<LaunchId, Launched>,
    /// How many of them have not ended.
    under_way: usize,
}

/// A launch.
#[derive(Debug)]
struct Launched {
    began: Time,
    ended: Option<Time>,
    /// What there is to say of its threads; `None`: the driver itself copied or set bytes.
    code: Option<LaunchedCode>,
}

/// What it takes to name a thread of a launch.
#[derive(Debug)]
pub(super) struct LaunchedCode {
    pub(super) kernel: String,
    pub(super) grid: Dim,
    pub(super) block: Dim,
    pub(super) lines: Lines,
}

impl History {
    /// Notes that the driver itself copies or sets bytes, which happens at once: before it, or after it, is each access of the
    /// launches that are under way.
    pub fn overwritten(&self, view: View<'_>, address: u64, len: u64) {
        let mut known = self.known();
        // Whoever begins later may read by whatever address.
        if known.launches.under_way == 0 {
            return;
        }
        let launch = known.begin(None);
        known.end(launch);
        let time = known.order.tick();
        let event = Event { launch, block: 0, instruction: 0, time, strong: true };
        let mut at = address;
        while at < address + len {
            let Some((arena, start)) = view.place(at) else { return };
            let part = view.part(at, address + len - at);
            let run = Run { event, start, end: start + part, first_lane: 0, each: part, address: at };
            // Where there is no room for it, there is none for the next launch that writes either, and that one says so.
            if known.device.note(arena, run).is_err() {
                return;
            }
            at += part;
        }
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// A launch begins, or a copy if there is no code.
    pub(super) fn begin(&mut self, code: Option<LaunchedCode>) -> LaunchId {
        self.last += 1;
        self.launches.under_way += 1;
        let began = self.order.tick();
        self.launches.known.insert(self.last, Launched { began, ended: None, code });
        self.last
    }

    /// It has ended. Once none is under way, nobody can read too early what they wrote.
    pub(super) fn end(&mut self, launch: LaunchId) {
        self.launches.under_way -= 1;
        let now = self.order.tick();
        if self.launches.under_way == 0 {
            *self = Self { last: self.last, ..Self::default() };
        } else if let Some(launch) = self.launches.known.get_mut(&launch) {
            launch.ended = Some(now);
        }
    }
}

impl Launches {
    /// Whether a launch began before another had ended. By another address it may read neither what the other wrote nor what was
    /// there before.
    pub(super) fn began_before_end_of(&self, reader: LaunchId, writer: LaunchId) -> bool {
        let began = self.known.get(&reader).map(|launch| launch.began);
        self.known.get(&writer).and_then(|launch| launch.ended).is_none_or(|ended| began < Some(ended))
    }

    /// Who did what is noted as an event, as a launch is told it.
    pub(super) fn writer(&self, event: &Event, lane: usize, reader: LaunchId) -> Writer {
        let Some(code) = self.known.get(&event.launch).and_then(|launch| launch.code.as_ref()) else {
            return Writer::Copy;
        };
        let party = Party {
            block: block_of(event.block, code.grid),
            thread: thread_of(lane, code.block),
            line: code.lines.of(event.instruction),
        };
        match event.launch == reader {
            true => Writer::Here(party),
            false => Writer::Elsewhere { kernel: code.kernel.clone(), party },
        }
    }
}
