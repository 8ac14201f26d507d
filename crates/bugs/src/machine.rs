//! The machine that an entry is played on.

use peermap_driver::DriverError;
use peermap_model::HolderList;
use peermap_sim::SimMachine;

use crate::peer::{Hand, Peer, Remote};
use crate::play::Launch;
use crate::process::Process;
use crate::stage::Open;
use crate::trouble::Trouble;

/// A machine of this host, or a simulated one.
pub(crate) struct Machine<'s> {
    kind: Kind,
    launch: &'s Launch,
}

enum Kind {
    Simulated(SimMachine),
    Real(Open),
}

impl<'s> Machine<'s> {
    pub(crate) const fn simulated(machine: SimMachine, launch: &'s Launch) -> Self {
        Self { kind: Kind::Simulated(machine), launch }
    }

    pub(crate) const fn real(open: Open, launch: &'s Launch) -> Self {
        Self { kind: Kind::Real(open), launch }
    }

    /// A process, initialised. On a real driver it is this OS process, whenever it is asked for.
    pub(crate) fn process(&self) -> Result<Process, Trouble> {
        match &self.kind {
            Kind::Simulated(machine) => Process::simulated(machine.process()?),
            Kind::Real(open) => Process::real(open().map_err(Trouble::NoDriver)?),
        }
    }

    /// A further process, which does what it is told.
    pub(crate) fn peer(&self) -> Result<Box<dyn Peer>, Trouble> {
        self.peer_seeing(None)
    }

    /// The same with a value of `CUDA_VISIBLE_DEVICES`.
    pub(crate) fn peer_seeing(&self, visible: Option<&str>) -> Result<Box<dyn Peer>, Trouble> {
        match &self.kind {
            Kind::Simulated(machine) => {
                let process = Process::simulated(machine.process_seeing(visible)?)?;
                Ok(Box::new(Hand::new(process)))
            }
            Kind::Real(_) => Ok(Box::new(Remote::start(self.launch, visible)?)),
        }
    }

    /// Who holds what memory, where that can be told.
    pub(crate) fn holders(&self) -> Result<Option<HolderList>, DriverError> {
        match &self.kind {
            Kind::Simulated(machine) => machine.holders().map(Some),
            Kind::Real(_) => Ok(None),
        }
    }
}
