//! The service thread of a process: it runs work that nobody in the process waits for.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use peermap_ipc::{Deadline, IpcError, TypedChannel};
use peermap_model::{Plan, Wait};

use crate::process::{Inner, SimProcess};
use crate::protocol::Ring;

/// The socket over which a process hears that another one waits for it.
pub(crate) type Bell = TypedChannel<(), Ring>;

/// When the service thread has something to do.
pub(crate) enum Service {
    /// After the grace.
    Clock(Duration),
    /// When the bell rings, and after the grace if there is one.
    Bell(Bell, Option<Duration>),
}

impl SimProcess {
    /// Starts the service thread. It ends with the process.
    pub(crate) fn start_service(&self, service: Service) {
        let process = Arc::downgrade(&self.inner);
        let serve = move || match service {
            Service::Clock(grace) => by_clock(&process, grace),
            Service::Bell(bell, grace) => by_bell(&process, bell, grace),
        };
        // Without a thread work runs when something in the process waits for it, as it mostly does anyway.
        drop(thread::Builder::new().name("peermap-work".to_owned()).spawn(serve));
    }
}

fn by_clock(process: &Weak<Inner>, grace: Duration) {
    let mut seen = None;
    loop {
        thread::sleep(grace);
        let Some(process) = process.upgrade() else { return };
        seen = tick(&process, seen);
    }
}

fn by_bell(process: &Weak<Inner>, mut bell: Bell, grace: Option<Duration>) {
    let mut seen = None;
    loop {
        let rung = bell.recv(0, grace.map_or(Deadline::NEVER, Deadline::after));
        let Some(process) = process.upgrade() else { return };
        match rung {
            Ok((Ring::Mark(mark), _)) => process.run_up_to(&mark),
            Ok((Ring::Work, _)) => process.have_work_begin(),
            Err(IpcError::TimedOut) => seen = tick(&process, seen),
            // The machine is gone, and with it whoever could ring.
            Err(_) => return,
        }
    }
}

/// Runs what was queued a tick ago and still is; gives what is queued now.
fn tick(process: &Inner, seen: Option<Plan>) -> Option<Plan> {
    if let Some(plan) = seen {
        process.lock().process.nobody_waits_for(&plan);
        // What goes wrong is kept in the process, where the next call finds it.
        drop(process.run_whatever_comes(plan));
    }
    let mut state = process.lock();
    state.process.has_work().then(|| state.process.plan(&Wait::Everything))
}
