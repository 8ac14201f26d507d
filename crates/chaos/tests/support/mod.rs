//! What the tests have in common.

use peermap_chaos::{Plan, Staged};
use peermap_model::Profile;
use peermap_scenario::memmap_ipc::MemmapIpc;
use peermap_scenario::simple_ipc::SimpleIpc;
use peermap_scenario::{Options, Relay, Scenario};

pub type Make = fn(Options) -> Scenario;

pub fn profile() -> Profile {
    Profile::named("default").expect("a profile")
}

pub fn memmap_ipc(options: Options) -> Scenario {
    MemmapIpc { options, ..MemmapIpc::default() }.into()
}

pub fn simple_ipc(options: Options) -> Scenario {
    SimpleIpc(Relay { options, ..Relay::default() }).into()
}

pub fn staged(scenario: Make, profile: &Profile) -> Staged<'_> {
    Staged { scenario: Box::new(scenario), profile }
}

/// A plan in a line: its seed and its faults.
pub fn words(plan: &Plan) -> String {
    let faults: Vec<String> = plan.faults.iter().map(ToString::to_string).collect();
    format!("seed {}: {}", plan.seed, faults.join(" "))
}
