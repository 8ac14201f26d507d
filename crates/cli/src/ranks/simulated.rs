//! The simulated machine of a job. It lives in a thread of rank 0. The other ranks hear its address by MPI, which nobody else
//! knows, and join over it.

use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use peermap_ipc::{Channel, Deadline, PrivateAddress, PrivateListener};
use peermap_model::Profile;
use peermap_sim::{Checks, MachineClient, MachineOptions, SimError, SimProcess, serve};

use super::Seat;
use super::engine::Engine;
use crate::backend;

/// How long ranks may take to come, and the machine to take them in.
const JOIN_TIME: Duration = Duration::from_secs(30);

/// A machine that runs until this is dropped.
pub(super) struct Machine {
    /// Lets the ranks in, and then holds the control socket.
    doorman: Option<JoinHandle<anyhow::Result<MachineClient>>>,
    thread: Option<JoinHandle<Result<(), SimError>>>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The machine ends when its control socket hangs up. Nobody is left who could be told of a failure.
        drop(self.doorman.take().map(JoinHandle::join));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// The seat of this rank: ranks take the devices of the machine in turn, each on the node of its device.
pub(super) fn join(name: &str, checks: Checks, engine: &Engine) -> anyhow::Result<Seat> {
    backend::allow_descriptors(name)?;
    let profile = Profile::named(name)?;
    let (machine, mut address) = match engine.rank() {
        0 => host(&profile, checks, engine.ranks()).map(|(machine, address)| (Some(machine), address.to_bytes()))?,
        _ => (None, [0; PrivateAddress::BYTES]),
    };
    engine.broadcast(&mut address);
    let deadline = Deadline::after(JOIN_TIME);
    let channel = Channel::connect(&PrivateAddress::from_bytes(&address), deadline)
        .context("the simulated machine is on the host of rank 0, and so must be all ranks")?;
    channel.send(&engine.rank().to_le_bytes(), &[], deadline)?;
    let (_, device) = place(&profile, engine.rank());
    let process = SimProcess::join(channel.into_fd(), backend::visibility().as_deref(), deadline)?;
    Ok(Seat { driver: Box::new(process), device, _machine: machine })
}

/// The node of a rank, if the machine has several, and which of the devices that it sees there is its own.
fn place(profile: &Profile, rank: u32) -> (Option<u16>, u32) {
    let index = rank as usize % profile.devices.len();
    let node = profile.devices[index].node;
    if profile.nodes.len() == 1 {
        return (None, rank);
    }
    let before = profile.devices[..index].iter().filter(|device| device.node == node).count();
    (Some(node), before as u32)
}

/// Starts the machine, and lets so many ranks in.
fn host(profile: &Profile, checks: Checks, ranks: u32) -> anyhow::Result<(Machine, PrivateAddress)> {
    let (ours, theirs) = Channel::pair()?;
    let options = MachineOptions { checks, ..MachineOptions::default() };
    let served = profile.clone();
    let thread = std::thread::spawn(move || serve(theirs, served, options));
    let mut client = MachineClient::new(ours, Deadline::after(JOIN_TIME))?;
    let mut listener = PrivateListener::new()?;
    let (address, profile) = (listener.address(), profile.clone());
    let doorman = std::thread::spawn(move || {
        let deadline = Deadline::after(JOIN_TIME);
        for _ in 0..ranks {
            let channel = listener.accept(deadline)?;
            let number = channel.recv(0, deadline)?.payload;
            let number = number.try_into().map(u32::from_le_bytes);
            let number = number.map_err(|_| anyhow::anyhow!("a process came that is no rank of this job"))?;
            client.admit(place(&profile, number).0, channel, deadline)?;
        }
        Ok(client)
    });
    Ok((Machine { doorman: Some(doorman), thread: Some(thread) }, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_take_the_devices_of_each_node_in_turn() {
        let islands = Profile::named("islands").unwrap();
        let places: Vec<_> = (0..5).map(|rank| place(&islands, rank)).collect();
        assert_eq!(places, [(Some(0), 0), (Some(0), 1), (Some(1), 0), (Some(1), 1), (Some(2), 0)]);
        assert_eq!(place(&islands, 13), (Some(0), 1));
        assert_eq!(place(&Profile::named("default").unwrap(), 3), (None, 3));
    }
}
