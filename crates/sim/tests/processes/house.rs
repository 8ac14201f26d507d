//! A machine with its child processes, as a test starts them.

use peermap_driver::{Device, Driver};
use peermap_ipc::{Channel, Child};
use peermap_report::Held;
use peermap_sim::{MachineClient, SimProcess};

use crate::roles::{CHANNEL, TICKET, patience, role};

/// A machine in a child.
pub struct House {
    pub client: MachineClient,
    pub machine: Child,
}

/// How processes keep an allocation: their numbers in the machine, and what they have.
pub fn keepers(held: &Held) -> Vec<(u32, &str)> {
    held.kept_by.iter().filter_map(|keeper| Some((keeper.process?, &*keeper.what))).collect()
}

/// A child that joined the machine.
pub struct Worker {
    pub child: Child,
    pub channel: Channel,
}

impl House {
    pub fn new() -> Self {
        Self::of("machine")
    }

    pub fn of(machine: &str) -> Self {
        let (machine, ours) = role(machine).connect(CHANNEL).unwrap();
        let machine = machine.spawn().unwrap();
        Self { client: MachineClient::new(ours, patience()).unwrap(), machine }
    }

    /// Starts a child that joins.
    pub fn worker(&mut self, name: &str, visible: Option<&str>) -> Worker {
        let ticket = self.client.ticket(patience()).unwrap();
        let (child, ours) = role(name).inherit(ticket, TICKET).connect(CHANNEL).unwrap();
        let child = visible.into_iter().fold(child, |child, setting| child.env("CUDA_VISIBLE_DEVICES", setting));
        Worker { child: child.spawn().unwrap(), channel: ours }
    }

    /// Joins the machine ourselves, with a context of device 0.
    pub fn join(&mut self) -> SimProcess {
        let process = SimProcess::join(self.client.ticket(patience()).unwrap(), None, patience()).unwrap();
        process.init(0).unwrap();
        process.ctx_create(0, Device(0)).unwrap();
        process
    }

    pub fn held(&mut self) -> Vec<Held> {
        self.client.account(patience()).unwrap().held
    }
}

impl Worker {
    /// Says a word; gives the byte that comes back.
    pub fn ask(&self, word: &[u8]) -> u8 {
        self.channel.send(word, &[], patience()).unwrap();
        crate::roles::hear(&self.channel).0[0]
    }

    /// Kills the child and waits until it is gone, and with it its sockets.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait(patience()).unwrap();
    }
}
