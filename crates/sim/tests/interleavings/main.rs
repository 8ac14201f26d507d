//! Random calls of two to four processes of one machine, against independent bookkeeping.
//!
//! The reference knows nothing of the model's code: it keeps lists of who holds what and of the byte in every granule,
//! and says of each call how it must end. After every step the machine must agree with it in everything that can be
//! asked.

mod check;
mod operation;
mod reference;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use peermap_driver::Call;
use peermap_model::Policy;
use proptest::collection::vec;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};

use operation::operation;
use world::World;

const CASES: u32 = 256;
/// Of these one in sixty or so does nothing.
const STEPS: usize = 54;

/// Names the seed of a run, to play it again.
const SEED: &str = "PEERMAP_TEST_SEED";

/// How often each call was accepted and rejected.
pub type Tally = BTreeMap<Call, (u32, u32)>;

/// The calls that have to be both accepted and rejected in a run.
const BOTH: &[Call] = &[
    Call::cuMemCreate,
    Call::cuMemRelease,
    Call::cuMemAddressReserve,
    Call::cuMemAddressFree,
    Call::cuMemMap,
    Call::cuMemUnmap,
    Call::cuMemSetAccess,
    Call::cuMemGetAccess,
    Call::cuMemExportToShareableHandle,
    Call::cuMemImportFromShareableHandle,
    Call::cuMemRetainAllocationHandle,
    Call::cuMemsetD8,
    Call::cuMemcpyDtoH,
];

fn seed() -> u64 {
    let given = std::env::var(SEED).ok().map(|seed| seed.parse().expect("the seed is a number"));
    given.unwrap_or_else(|| RandomState::new().build_hasher().finish())
}

fn run(policy: impl Fn(u64) -> Policy) {
    let seed = seed();
    println!("seed {seed}; again: {SEED}={seed} cargo test -p peermap-sim --test interleavings");
    let regressions = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/interleavings.txt");
    let config = Config {
        cases: CASES,
        rng_seed: RngSeed::Fixed(seed),
        // Enough to turn what does not matter into nothing; a minute is the limit.
        max_shrink_iters: 20_000,
        max_shrink_time: 60_000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(regressions))),
        ..Config::default()
    };
    let tally = RefCell::new(Tally::new());
    let cases = (2..=4usize, proptest::num::u64::ANY, vec(operation(), STEPS));
    let outcome = TestRunner::new(config).run(&cases, |(processes, choice, operations)| {
        let mut world = World::new(processes, policy(choice));
        for operation in &operations {
            world.step(operation, &mut tally.borrow_mut())?;
            world.check()?;
        }
        world.end()
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}\nseed {seed}"));
    let tally = tally.into_inner();
    println!("accepted and rejected: {tally:?}");
    for call in BOTH {
        let (accepted, rejected) = tally.get(call).copied().unwrap_or_default();
        assert!(accepted > 0 && rejected > 0, "{call}: {accepted} accepted, {rejected} rejected");
    }
}

#[test]
fn as_measured() {
    run(|_| Policy::Measured);
}

#[test]
fn as_badly_as_the_rules_allow() {
    run(|seed| Policy::Hostile { seed });
}
