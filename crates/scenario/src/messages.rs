//! What the parent and its workers say to each other.
//!
//! [`ToWorker::Start`] comes as soon as the parent knows the worker's device, and carries the barrier's descriptor if the role has
//! one. A worker says [`ToParent::Ready`] once its driver is initialised, and does what it can without anything shared while the
//! parent makes that. With [`ToParent::Ask`] it waits for it: [`ToWorker::Supplies`] comes, and descriptors behind that. From then
//! on only the worker talks, until [`ToParent::Done`] or [`ToParent::Failed`]; if its driver calls are recorded, they come right
//! before that.

use std::fmt;

use peermap_driver::Uuid;
use peermap_report::{AliasUse, Grown, Mismatch, Phases, Rates, Striped, Try};
use serde::{Deserialize, Serialize};

use crate::access::{self, Deed, Right};
use crate::alias;
use crate::calls::Part;
use crate::error::Complaint;
use crate::fabric;
use crate::grow;
use crate::host_numa;
use crate::memmap_ipc;
use crate::multicast;
use crate::probe::Probe;
use crate::relay;
use crate::stripe;
use crate::task::Task;
use crate::transport::Carrier;

/// From the parent to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// Begin.
    Start(Start),
    /// What is shared is there.
    Supplies(Supplies),
    /// There is nothing to do; end.
    Dismiss,
}

/// The order to begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Start {
    /// The number of the worker, from 0.
    pub(crate) worker: u32,
    /// How many workers there are.
    pub(crate) workers: u32,
    /// The worker's device; the first that it sees if not given. Ordinals may differ between processes.
    pub(crate) device: Option<Uuid>,
    /// How long the worker may take, in milliseconds.
    pub(crate) time_left_ms: u64,
    /// Whether its driver calls are recorded.
    pub(crate) record_calls: bool,
    /// What to do.
    pub(crate) role: Role,
}

/// What the parent made for its workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Supplies {
    /// How many descriptors follow.
    pub(crate) descriptors: u64,
    /// What they are.
    pub(crate) carrier: Carrier,
}

/// What a worker does. Each scenario has its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// A worker of [`memmap_ipc`](crate::memmap_ipc).
    MemmapIpc(memmap_ipc::Task),
    /// A worker of [`simple_ipc`](crate::simple_ipc).
    SimpleIpc(relay::Task),
    /// A worker of [`pool_ipc`](crate::pool_ipc).
    PoolIpc(relay::Task),
    /// A worker of [`access`](crate::access).
    Access(access::Task),
    /// A worker of [`grow`](crate::grow).
    Grow(grow::Task),
    /// A worker of [`alias`](crate::alias).
    Alias(alias::Task),
    /// A worker of [`host_numa`](crate::host_numa).
    HostNuma(Task),
    /// A worker of [`stripe`](crate::stripe).
    Stripe(stripe::Task),
    /// A worker of [`fabric`](crate::fabric).
    Fabric(fabric::Task),
    /// A worker of [`multicast`](crate::multicast).
    Multicast(multicast::Task),
    /// Makes contexts and says how long that took.
    Probe(Probe),
}

/// From a worker to the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToParent {
    /// The driver is initialised, which took so many milliseconds.
    Ready { init_ms: f64 },
    /// It needs what is shared.
    Ask,
    /// A step begins.
    Step(Step),
    /// Something for who wants to know more.
    Note(String),
    /// Driver calls, in as many parts as they need; `last`: there are no more.
    Calls { part: Part, last: bool },
    /// All is done. The worker exits now.
    Done(Box<Done>),
    /// The worker cannot go on. It exits now.
    Failed(Complaint),
}

/// What a worker did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) phases: Phases,
    /// Bytes found right.
    pub(crate) verified: u64,
    /// Median rate of the fill kernels.
    pub(crate) fill_gb_s: Option<f64>,
    /// The first buffer that was wrong.
    pub(crate) mismatch: Option<Mismatch>,
    /// Repeated measurements, if they were asked for.
    pub(crate) measured: Option<Rates>,
    /// What was tried.
    pub(crate) tries: Vec<Try>,
    /// How its vector grew.
    pub(crate) grown: Option<Grown>,
    /// How it used one memory by two addresses.
    pub(crate) alias_uses: Vec<AliasUse>,
    /// What it did of a sum of striped vectors.
    pub(crate) striped: Option<Striped>,
    /// The norm that its ranks came to.
    pub(crate) norm: Option<f32>,
}

/// What a worker is doing. Every worker of a run takes the same steps in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Step {
    /// Opens and initialises the driver.
    Init,
    /// Is initialised and looks for its device.
    Find,
    /// Receives what is shared.
    Receive,
    /// Makes context and stream.
    Context,
    /// Loads kernels.
    Module,
    /// Reserves addresses.
    Reserve,
    /// Creates and exports memory.
    Export,
    /// Hands its handle to all others.
    Exchange,
    /// Waits until the memory of all others is gone.
    Gone,
    /// Imports and maps.
    Import,
    /// Sets access.
    Access,
    /// Opens memory and events of the parent.
    Open,
    /// Waits until all others have mapped or opened what they fill.
    Assemble,
    /// Fills a buffer in this ring step.
    Fill(u32),
    /// Waits for all others in this ring step.
    Barrier(u32),
    /// Waits until its own work has ended.
    Synchronize,
    /// Waits until the work of all others has ended.
    Complete,
    /// Grows to so many chunks.
    Grow(u32),
    /// Grows while the driver call of this number is refused.
    Refuse(u32),
    /// Shrinks to so many chunks.
    Shrink(u32),
    /// Frees every second chunk.
    Free,
    /// Maps chunks in a row.
    Gather,
    /// Gives up addresses that it has left.
    Forget,
    /// Verifies all chunks.
    VerifyChunks,
    /// Adds its device to the team.
    Join,
    /// Binds memory to the team.
    Bind,
    /// Unbinds its memory and binds it by address.
    BindAgain,
    /// Adds up what all copies hold.
    Reduce,
    /// Comes to a norm with all others.
    Norm,
    /// Gives its device this right, and all others every right.
    Grant(Right),
    /// Tries this with this right.
    Try(Right, Deed),
    /// Uses one memory by two addresses.
    Alias(alias::Case),
    /// Does this with memory of the host.
    Host(host_numa::Act),
    /// Maps what is there for a device that comes in, and what comes behind it.
    Enter,
    /// Adds its share of vectors.
    Add,
    /// Verifies this buffer.
    Verify(u32),
    /// Waits until all others have verified.
    Verified,
    /// Measures, or waits for a worker that does.
    Measure,
    /// Gives everything back.
    Teardown,
    /// Has given back all that it shares with others, and gives back the rest.
    ClearAway,
    /// Has reported and exits.
    Exit,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Init => f.write_str("init"),
            Self::Find => f.write_str("find the device"),
            Self::Receive => f.write_str("receive descriptors"),
            Self::Context => f.write_str("context"),
            Self::Module => f.write_str("module"),
            Self::Reserve => f.write_str("reserve"),
            Self::Export => f.write_str("export"),
            Self::Exchange => f.write_str("exchange handles"),
            Self::Gone => f.write_str("barrier after release"),
            Self::Import => f.write_str("import and map"),
            Self::Access => f.write_str("access"),
            Self::Open => f.write_str("open handles"),
            Self::Assemble => f.write_str("barrier before the ring"),
            Self::Fill(step) => write!(f, "fill {step}"),
            Self::Barrier(step) => write!(f, "barrier {step}"),
            Self::Synchronize => f.write_str("synchronize"),
            Self::Complete => f.write_str("barrier after the ring"),
            Self::Grow(chunks) => write!(f, "grow to {chunks}"),
            Self::Refuse(call) => write!(f, "grow with call {call} refused"),
            Self::Shrink(chunks) => write!(f, "shrink to {chunks}"),
            Self::Free => f.write_str("free every second chunk"),
            Self::Gather => f.write_str("gather chunks"),
            Self::Forget => f.write_str("give up old addresses"),
            Self::VerifyChunks => f.write_str("verify chunks"),
            Self::Join => f.write_str("add the device to the team"),
            Self::Bind => f.write_str("bind to the team"),
            Self::BindAgain => f.write_str("unbind, and bind by address"),
            Self::Reduce => f.write_str("reduce"),
            Self::Norm => f.write_str("norm"),
            Self::Grant(right) => write!(f, "grant {right}"),
            Self::Try(right, deed) => write!(f, "try {deed}, {right}"),
            Self::Alias(case) => write!(f, "use by two addresses: {case}"),
            Self::Host(act) => act.fmt(f),
            Self::Enter => f.write_str("join"),
            Self::Add => f.write_str("add"),
            Self::Verify(buffer) => write!(f, "verify {buffer}"),
            Self::Verified => f.write_str("barrier after verify"),
            Self::Measure => f.write_str("measure"),
            Self::Teardown => f.write_str("teardown"),
            Self::ClearAway => f.write_str("clear away"),
            Self::Exit => f.write_str("exit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use peermap_driver::ByteSize;
    use peermap_report::FailureKind;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::check::{Verify, VerifyOn};
    use crate::content::Fill;
    use crate::kernels::KernelSource;
    use crate::relay::Order;
    use crate::task::Task;

    fn assert_survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(message: &T) {
        let bytes = postcard::to_stdvec(message).unwrap();
        assert_eq!(&postcard::from_bytes::<T>(&bytes).unwrap(), message);
    }

    #[test]
    fn what_the_parent_says_arrives_unchanged() {
        let task = Task {
            size: ByteSize::gib(3),
            fill: Fill::Pattern,
            verify: Verify::All,
            verify_on: VerifyOn::Host,
            kernels: KernelSource::File("/kernels/memmap_ipc.ptx".into()),
            measure: true,
            verbose: true,
        };
        let relay = relay::Task { work: task.clone(), order: Order::Host, steps: 9 };
        let access = access::Task { work: task.clone(), devices: vec![Uuid([7; 16]), Uuid([8; 16])] };
        let grow = grow::Task { work: task.clone(), chunk: ByteSize::mib(2), chunks: 1536, kv_cache: true };
        let alias = alias::Task { work: task.clone(), watched: true };
        let (devices, balance) = (access.devices.clone(), stripe::Balance::ByDevice);
        let stripe = stripe::Task { work: task.clone(), stripe: ByteSize::mib(2), stripes: 16, balance, devices };
        let fabric = fabric::Task { work: task.clone(), mistake: fabric::Mistake::Altered };
        let multicast =
            multicast::Task { work: task.clone(), devices: vec![Uuid([7; 16])], absent: Some(3), round_up: true };
        for role in [
            Role::MemmapIpc(memmap_ipc::Task { work: task.clone(), round_up: true }),
            Role::HostNuma(task),
            Role::Stripe(stripe),
            Role::SimpleIpc(relay.clone()),
            Role::PoolIpc(relay),
            Role::Access(access),
            Role::Grow(grow),
            Role::Alias(alias),
            Role::Fabric(fabric),
            Role::Multicast(multicast),
            Role::Probe(Probe::Wake),
        ] {
            let device = Uuid([7; 16]);
            assert_survives(&ToWorker::Start(Start {
                worker: 3,
                workers: 8,
                device: Some(device),
                time_left_ms: 59_000,
                record_calls: true,
                role,
            }));
        }
        assert_survives(&ToWorker::Supplies(Supplies { descriptors: 8, carrier: Carrier::SharedMemory }));
        assert_survives(&ToWorker::Dismiss);
    }

    proptest! {
        #[test]
        fn no_bytes_make_parent_or_worker_panic(bytes in vec(prop_oneof![6 => 0u8..16, 1 => any::<u8>()], 0..200)) {
            drop(postcard::from_bytes::<ToWorker>(&bytes));
            drop(postcard::from_bytes::<ToParent>(&bytes));
        }
    }

    #[test]
    fn what_a_worker_says_arrives_unchanged() {
        let mut phases = Phases::default();
        phases.add("init", 480.5);
        let mismatch = Mismatch { worker: 1, buffer: 2, offset: 1 << 40, expected: 3, got: 4, wrong_bytes: 5 };
        let measured = Some(Rates { fill_gb_s: 1.0, verify_gb_s: 2.0, memset_gb_s: 3.0 });
        let tries = vec![Try { right: "read".to_owned(), deed: "store".to_owned(), answer: "done".to_owned() }];
        let (verified, fill_gb_s, mismatch) = (4 << 20, Some(2.5), Some(mismatch));
        let grown = Some(Grown { chunks: 16, fragmentation_before_percent: Some(87.5), ..Grown::default() });
        let alias_uses = vec![AliasUse { case: "foo".to_owned(), as_before: 7, ..AliasUse::default() }];
        let striped = Some(Striped { stripes: 16, finish_ms: 0.5, ..Striped::default() });
        let norm = Some(2.5);
        let done = Done { phases, verified, fill_gb_s, mismatch, measured, tries, grown, alias_uses, striped, norm };
        assert_survives(&ToParent::Ready { init_ms: 480.5 });
        assert_survives(&ToParent::Ask);
        assert_survives(&ToParent::Step(Step::Fill(7)));
        assert_survives(&ToParent::Step(Step::Try(Right::Revoked, Deed::Load)));
        assert_survives(&ToParent::Note("embedded kernels".to_owned()));
        assert_survives(&ToParent::Done(Box::new(done)));
        assert_survives(&ToParent::Calls { part: Part(vec![0, 255, 7]), last: true });
        assert_survives(&ToParent::Failed(Complaint {
            kind: FailureKind::Driver,
            message: "CUDA_ERROR_INVALID_VALUE".to_owned(),
            call: Some("cuMemMap".to_owned()),
            rule: Some("MAP-3".to_owned()),
        }));
    }
}
