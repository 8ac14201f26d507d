//! Whole runs, and the slowest worker's time in each phase.

use peermap_driver::ByteSize;
use peermap_scenario::access::Access;
use peermap_scenario::alias::Alias;
use peermap_scenario::compressible::Compressible;
use peermap_scenario::fabric::{Fabric, Mistake};
use peermap_scenario::grow::Grow;
use peermap_scenario::host_numa::HostNuma;
use peermap_scenario::memmap_ipc::MemmapIpc;
use peermap_scenario::pool_ipc::PoolIpc;
use peermap_scenario::simple_ipc::SimpleIpc;
use peermap_scenario::stripe::{Balance, Stripe};
use peermap_scenario::{DeviceChoice, Options, Relay, Scenario};

use super::{nanoseconds, slowest};
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

/// What a vector maps at once, and what lies on one device in a row.
const CHUNK: ByteSize = ByteSize::mib(2);

/// A scenario, as it is measured.
struct Whole {
    /// The name of the whole run.
    name: &'static str,
    /// The names of the phases, each with the phase.
    phases: &'static [(&'static str, &'static str)],
    /// Whether it says itself how many processes a device gets.
    seated: bool,
    scenario: fn(Options) -> Scenario,
}

static WHOLE: [Whole; 10] = [
    Whole {
        name: "memmap_ipc",
        phases: &[
            ("init", "init"),
            ("context", "context"),
            ("module", "module"),
            ("map", "map"),
            ("fill", "fill"),
            ("verify", "verify"),
            ("teardown", "teardown"),
        ],
        seated: false,
        scenario: |options| MemmapIpc { options, ..MemmapIpc::default() }.into(),
    },
    Whole {
        name: "simple_ipc",
        phases: &[
            ("simple_init", "init"),
            ("simple_context", "context"),
            ("simple_module", "module"),
            ("simple_open", "open"),
            ("simple_ring", "ring"),
            ("simple_verify", "verify"),
            ("simple_teardown", "teardown"),
        ],
        seated: false,
        scenario: |options| SimpleIpc(Relay { options, ..Relay::default() }).into(),
    },
    Whole {
        name: "pool_ipc",
        phases: &[
            ("pool_init", "init"),
            ("pool_context", "context"),
            ("pool_module", "module"),
            ("pool_open", "open"),
            ("pool_ring", "ring"),
            ("pool_verify", "verify"),
            ("pool_teardown", "teardown"),
        ],
        seated: false,
        scenario: |options| {
            let relay = Relay { options, ..Relay::default() };
            PoolIpc { relay, ..PoolIpc::default() }.into()
        },
    },
    Whole {
        name: "compressible",
        phases: &[("compressible_map", "map"), ("compressible_fill", "fill"), ("compressible_teardown", "teardown")],
        seated: false,
        scenario: |options| Compressible(options).into(),
    },
    Whole {
        name: "access",
        phases: &[("access_map", "map"), ("access_try", "try"), ("access_teardown", "teardown")],
        seated: true,
        scenario: |options| {
            // Each device has seven workers, and what they do is the same on all.
            let devices = Some(vec![DeviceChoice::Ordinal(0)]);
            Access::new(Options { devices, ..options }).into()
        },
    },
    Whole {
        name: "grow",
        phases: &[("grow_grow", "grow"), ("grow_gather", "gather"), ("grow_teardown", "teardown")],
        seated: false,
        scenario: |options| {
            // The least size that is measured makes four chunks, the fewest that there can be.
            let size = ByteSize::new(2 * options.size.get());
            Grow::new(Options { size, ..options }, CHUNK, true).into()
        },
    },
    Whole {
        name: "alias",
        phases: &[("alias_use", "use"), ("alias_teardown", "teardown")],
        seated: true,
        scenario: |options| Alias::new(options, false).into(),
    },
    Whole {
        name: "host_numa",
        phases: &[("host_numa_map", "map"), ("host_numa_share", "share"), ("host_numa_teardown", "teardown")],
        seated: false,
        scenario: |options| HostNuma::new(options).into(),
    },
    Whole {
        name: "stripe",
        phases: &[("stripe_join", "join"), ("stripe_add", "add"), ("stripe_teardown", "teardown")],
        seated: true,
        scenario: |options| Stripe { options, stripe: CHUNK, balance: Balance::Even }.into(),
    },
    Whole {
        name: "fabric",
        phases: &[
            ("fabric_export", "export"),
            ("fabric_exchange", "exchange"),
            ("fabric_map", "map"),
            ("fabric_verify", "verify"),
        ],
        seated: false,
        scenario: |options| Fabric::new(options, Mistake::None).into(),
    },
];

/// A group for each scenario; those that say themselves how many processes a device gets are measured once.
pub(super) fn groups<'r>(
    rig: &'r Rig<'_>,
    size: ByteSize,
    processes_per_device: u32,
) -> impl Iterator<Item = Planned<'r>> {
    let measured = WHOLE.iter().filter(move |whole| processes_per_device == 1 || !whole.seated);
    measured.map(move |whole| Planned {
        outputs: std::iter::once(whole.name)
            .chain(whole.phases.iter().map(|(name, _)| *name))
            .map(Output::time)
            .collect(),
        parameters: vec![("processes_per_device", processes_per_device.to_string()), ("size", size.to_string())],
        make: Box::new(move || {
            let options = Options { size, processes_per_device, ..Options::default() };
            Ok(Box::new(Run { rig, whole, scenario: (whole.scenario)(options) }))
        }),
    })
}

struct Run<'r, 'd> {
    rig: &'r Rig<'d>,
    whole: &'static Whole,
    scenario: Scenario,
}

impl Group for Run<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let report = self.rig.crew.run(&self.scenario)?;
        let phases = self.whole.phases.iter().map(|(_, phase)| slowest(&report, phase));
        Ok(std::iter::once(nanoseconds(report.wall_ms)).chain(phases).collect())
    }
}
