//! What fabric handles ask of a process, for memory and for pools.

use peermap_driver::{Argument, CallSite, DriverError, HandleType};

use super::Process;
use crate::imex::{Apart, Fabric};
use crate::rule::Rule;
use crate::rules;
use crate::wire::Place;

/// The rules that say no if there is no channel, and if the devices have no fabric handles.
pub(super) struct Refusals {
    pub(super) no_channel: &'static Rule,
    pub(super) not_supported: &'static Rule,
}

impl Process {
    /// Whether memory of a place may have fabric handles, if they are asked for.
    pub(super) fn check_fabric(
        &self,
        place: Place,
        asked: HandleType,
        refusals: &Refusals,
        fact: (&'static str, &dyn Argument),
        earlier: Option<CallSite>,
    ) -> Result<(), DriverError> {
        let fabric = self.profile.fabric(self.profile.node_of(place, self.options.node));
        match fabric {
            _ if !asked.contains(HandleType::FABRIC) => Ok(()),
            Fabric::Granted => Ok(()),
            Fabric::NotPermitted => Err(refusals.no_channel.refuse(&[fact], earlier)),
            Fabric::NotSupported => Err(refusals.not_supported.refuse(&[fact], earlier)),
        }
    }
}

/// The refusal of a fabric handle that is out of reach.
pub(super) fn out_of_reach(apart: Apart) -> DriverError {
    let rule = match apart {
        Apart::Channel => &rules::FABRIC_1,
        Apart::Domain => &rules::FABRIC_2,
        Apart::Daemon => &rules::FABRIC_3,
    };
    rule.refuse(&[], None)
}
