//! A machine inside one OS process.

use std::sync::{Arc, Mutex, PoisonError};

use peermap_driver::ByteSize;
use peermap_model::{Grace, HolderList, Profile};
use peermap_report::Account;

use crate::host::{MachineHost, MachineOptions, SimError};
use crate::link::DirectLink;
use crate::process::{Memory, Seat, SimProcess};
use crate::service::Service;

/// A simulated machine whose processes all live in this OS process.
#[derive(Clone)]
pub struct SimMachine {
    host: Arc<Mutex<MachineHost>>,
}

impl SimMachine {
    /// A machine of a named profile, simulated as measured.
    ///
    /// # Errors
    /// [`SimError::Profile`] for an unknown name; others if the host cannot back a machine.
    pub fn named(profile: &str) -> Result<Self, SimError> {
        Self::new(Profile::named(profile)?, MachineOptions::default())
    }

    /// A machine of a profile.
    ///
    /// # Errors
    /// If the host cannot back a machine.
    pub fn new(profile: Profile, options: MachineOptions) -> Result<Self, SimError> {
        Ok(Self { host: Arc::new(Mutex::new(MachineHost::new(profile, options)?)) })
    }

    fn with_host<T>(&self, f: impl FnOnce(&mut MachineHost) -> T) -> T {
        f(&mut self.host.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A new process that sees every device. It ends when the value is dropped.
    ///
    /// # Errors
    /// If the host cannot back its page tables.
    pub fn process(&self) -> Result<SimProcess, SimError> {
        self.process_seeing(None)
    }

    /// A new process with a value of `CUDA_VISIBLE_DEVICES`.
    ///
    /// # Errors
    /// If the host cannot back its page tables.
    pub fn process_seeing(&self, visible: Option<&str>) -> Result<SimProcess, SimError> {
        self.seated(None, visible)
    }

    /// A new process on a node, of which it sees every device. A process that is put on no node is on the first and sees
    /// the devices of all.
    ///
    /// # Errors
    /// If the host cannot back its page tables.
    pub fn process_on(&self, node: u16) -> Result<SimProcess, SimError> {
        self.seated(Some(node), None)
    }

    fn seated(&self, node: Option<u16>, visible: Option<&str>) -> Result<SimProcess, SimError> {
        let (process, profile, options, memory) = self.with_host(|host| {
            let memory = (host.arenas().to_vec(), Arc::clone(host.switches()));
            (host.connect(node), host.profile().clone(), *host.options(), memory)
        });
        let link = Box::new(DirectLink::new(Arc::clone(&self.host), process));
        let seat = Seat::new(&profile, node, visible);
        let memory = Memory::new(&profile, seat.devices(), memory, options.checks)?;
        let simulated = SimProcess::new(process, profile, seat, options.policy, options.grace, link, memory);
        if let Grace::Wall(grace) = options.grace {
            simulated.start_service(Service::Clock(grace));
        }
        self.with_host(|host| host.introduce(process, Arc::downgrade(&simulated.inner)));
        Ok(simulated)
    }

    /// Who holds what memory of this machine.
    ///
    /// # Errors
    /// [`peermap_driver::DriverError::Host`] if the kernel cannot say which descriptors are gone.
    pub fn holders(&self) -> Result<HolderList, peermap_driver::DriverError> {
        self.with_host(MachineHost::holders)
    }

    /// What this machine can tell of its memory: what [`holders`](Self::holders) says, what processes that have ended had not given
    /// back, and what processes did that the driver accepts and a careful program does not do.
    ///
    /// # Errors
    /// As [`Self::holders`].
    pub fn account(&self) -> Result<Account, peermap_driver::DriverError> {
        self.with_host(MachineHost::account)
    }

    /// How much host memory simulated memory takes now.
    #[must_use]
    pub fn host_memory_used(&self) -> ByteSize {
        self.with_host(|host| ByteSize::new(host.budget().used()))
    }
}
