//! Which scenario runs, and what is asked of it.

use crate::access::Access;
use crate::alias::Alias;
use crate::compressible::Compressible;
use crate::fabric::Fabric;
use crate::grow::Grow;
use crate::host_numa::HostNuma;
use crate::memmap_ipc::MemmapIpc;
use crate::multicast::Multicast;
use crate::parent::Story;
use crate::pool_ipc::PoolIpc;
use crate::simple_ipc::SimpleIpc;
use crate::stripe::Stripe;

/// A scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scenario {
    /// [`memmap_ipc`](crate::memmap_ipc).
    MemmapIpc(MemmapIpc),
    /// [`simple_ipc`](crate::simple_ipc).
    SimpleIpc(SimpleIpc),
    /// [`pool_ipc`](crate::pool_ipc).
    PoolIpc(PoolIpc),
    /// [`compressible`](crate::compressible).
    Compressible(Compressible),
    /// [`access`](crate::access).
    Access(Access),
    /// [`grow`](crate::grow).
    Grow(Grow),
    /// [`alias`](crate::alias).
    Alias(Alias),
    /// [`host_numa`](crate::host_numa).
    HostNuma(HostNuma),
    /// [`stripe`](crate::stripe).
    Stripe(Stripe),
    /// [`fabric`](crate::fabric).
    Fabric(Fabric),
    /// [`multicast`](crate::multicast).
    Multicast(Multicast),
}

impl Scenario {
    /// What is its own in the parent's story.
    pub(crate) fn story(&self) -> &dyn Story {
        match self {
            Self::MemmapIpc(scenario) => scenario,
            Self::SimpleIpc(scenario) => scenario,
            Self::PoolIpc(scenario) => scenario,
            Self::Compressible(scenario) => scenario,
            Self::Access(scenario) => scenario,
            Self::Grow(scenario) => scenario,
            Self::Alias(scenario) => scenario,
            Self::HostNuma(scenario) => scenario,
            Self::Stripe(scenario) => scenario,
            Self::Fabric(scenario) => scenario,
            Self::Multicast(scenario) => scenario,
        }
    }
}

impl From<MemmapIpc> for Scenario {
    fn from(scenario: MemmapIpc) -> Self {
        Self::MemmapIpc(scenario)
    }
}

impl From<SimpleIpc> for Scenario {
    fn from(scenario: SimpleIpc) -> Self {
        Self::SimpleIpc(scenario)
    }
}

impl From<PoolIpc> for Scenario {
    fn from(scenario: PoolIpc) -> Self {
        Self::PoolIpc(scenario)
    }
}

impl From<Compressible> for Scenario {
    fn from(scenario: Compressible) -> Self {
        Self::Compressible(scenario)
    }
}

impl From<Access> for Scenario {
    fn from(scenario: Access) -> Self {
        Self::Access(scenario)
    }
}

impl From<Grow> for Scenario {
    fn from(scenario: Grow) -> Self {
        Self::Grow(scenario)
    }
}

impl From<Alias> for Scenario {
    fn from(scenario: Alias) -> Self {
        Self::Alias(scenario)
    }
}

impl From<HostNuma> for Scenario {
    fn from(scenario: HostNuma) -> Self {
        Self::HostNuma(scenario)
    }
}

impl From<Stripe> for Scenario {
    fn from(scenario: Stripe) -> Self {
        Self::Stripe(scenario)
    }
}

impl From<Fabric> for Scenario {
    fn from(scenario: Fabric) -> Self {
        Self::Fabric(scenario)
    }
}

impl From<Multicast> for Scenario {
    fn from(scenario: Multicast) -> Self {
        Self::Multicast(scenario)
    }
}
