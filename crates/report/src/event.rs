//! What happens during a run, as one stream.

use serde::{Deserialize, Serialize};

use crate::rejected::device_list;

/// Something that happened during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The run begins.
    RunStarted {
        /// What is run.
        scenario: String,
        /// On which backend.
        backend: String,
        /// On which machine, if it is simulated.
        profile: Option<String>,
    },
    /// Devices do not take part, all for one reason.
    DevicesRejected {
        /// The devices, as a user knows them.
        devices: Vec<String>,
        /// Why not.
        reason: String,
    },
    /// A worker got its work.
    WorkerStarted {
        /// The worker.
        worker: u32,
        /// Its process.
        pid: u32,
        /// Its device, as a user knows it.
        device: String,
    },
    /// A worker begins a step.
    Step {
        /// The worker.
        worker: u32,
        /// The step.
        step: String,
    },
    /// Every worker has done its part of a step that all take together.
    Progress {
        /// How many such steps are done.
        done: u32,
        /// Of how many.
        of: u32,
    },
    /// A worker has done all its work.
    WorkerDone {
        /// The worker.
        worker: u32,
        /// Bytes that it found right.
        verified: u64,
    },
    /// Something for who wants to know more.
    Note {
        /// The worker that says it; `None`: the parent.
        worker: Option<u32>,
        /// What it says; may have several lines.
        text: String,
    },
    /// Something that everybody should know.
    Remark {
        /// What.
        text: String,
    },
    /// The run has ended.
    Finished {
        /// Whether it succeeded.
        ok: bool,
        /// How long it took, in milliseconds.
        wall_ms: f64,
    },
}

impl Event {
    /// Whether only somebody who asked for details wants to see this.
    #[must_use]
    pub const fn is_detail(&self) -> bool {
        matches!(self, Self::Step { .. } | Self::Note { .. })
    }
}

/// Takes the events of a run in, as they happen.
pub trait EventSink {
    /// Takes one event in. It must be quick: the run waits for it.
    fn event(&mut self, event: &Event);
}

impl<F: FnMut(&Event)> EventSink for F {
    fn event(&mut self, event: &Event) {
        self(event);
    }
}

/// An event as text, without a line end. All but notes are one line.
#[must_use]
pub fn event_line(event: &Event) -> String {
    match event {
        Event::RunStarted { scenario, backend, profile: Some(profile) } => {
            format!("{scenario} on {backend}, profile {profile}")
        }
        Event::RunStarted { scenario, backend, profile: None } => format!("{scenario} on {backend}"),
        Event::DevicesRejected { devices, reason } => {
            let verb = if devices.len() == 1 { "does" } else { "do" };
            format!("{} {verb} not take part: {reason}", device_list(devices))
        }
        Event::WorkerStarted { worker, pid, device } => format!("worker {worker} (pid {pid}) works on {device}"),
        Event::Step { worker, step } => format!("worker {worker}: {step}"),
        Event::Progress { done, of } => format!("step {done} of {of} done"),
        Event::WorkerDone { worker, verified } => format!("worker {worker} done, {verified} bytes verified"),
        Event::Note { worker: Some(worker), text } => format!("worker {worker}: {text}"),
        Event::Note { worker: None, text } | Event::Remark { text } => text.clone(),
        Event::Finished { ok: true, wall_ms } => format!("ok after {wall_ms:.0} ms"),
        Event::Finished { ok: false, wall_ms } => format!("failed after {wall_ms:.0} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_event_is_one_line_for_everybody() {
        let event = Event::Progress { done: 1, of: 8 };
        assert_eq!(event_line(&event), "step 1 of 8 done");
        assert!(!event.is_detail());
    }

    #[test]
    fn devices_that_are_rejected_for_one_reason_are_one_line() {
        let rejected = |numbers: std::ops::Range<u32>| {
            let devices = numbers.map(|number| format!("device {number}")).collect();
            event_line(&Event::DevicesRejected { devices, reason: "no peer".to_owned() })
        };
        assert_eq!(rejected(4..5), "device 4 does not take part: no peer");
        assert_eq!(rejected(4..72), "devices 4 to 71 do not take part: no peer");
    }

    #[test]
    fn steps_of_single_workers_are_details() {
        let event = Event::Step { worker: 3, step: "fill 2".to_owned() };
        assert_eq!(event_line(&event), "worker 3: fill 2");
        assert!(event.is_detail());
    }

    #[test]
    fn an_event_names_itself_in_json() {
        let event = Event::DevicesRejected { devices: vec!["device 1".to_owned()], reason: "no peer".to_owned() };
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"event":"devices_rejected","devices":["device 1"],"reason":"no peer"}"#
        );
    }

    #[test]
    fn a_closure_is_a_sink() {
        let mut lines = Vec::new();
        let mut sink = |event: &Event| lines.push(event_line(event));
        let sink: &mut dyn EventSink = &mut sink;
        sink.event(&Event::Finished { ok: true, wall_ms: 812.4 });
        assert_eq!(lines, ["ok after 812 ms"]);
    }
}
