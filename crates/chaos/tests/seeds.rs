//! Plans of many seeds, played in one OS process.

mod support;

use peermap_chaos::{Plan, Processes, Trial, in_one, shrink};

use support::{memmap_ipc, simple_ipc, staged, words};

/// Plays the plans of seeds; gives what was wrong, with the fewest faults.
fn wrong(seeds: std::ops::Range<u64>, scenario: support::Make) -> Vec<String> {
    let profile = support::profile();
    let staged = staged(scenario, &profile);
    let play = |plan: &Plan| in_one(&staged, plan).expect("a machine");
    let plans = seeds.map(|seed| Plan::of_seed(seed, Processes::InOne, Plan::MOST_DEVICES));
    let failed = plans.filter(|plan| !play(plan).wrong.is_empty());
    failed
        .map(|plan| words(&shrink(&plan, |plan| Ok::<_, ()>(!play(plan).wrong.is_empty())).expect("no error")))
        .collect()
}

#[test]
fn whatever_goes_wrong_memmap_ipc_ends_as_it_should() {
    assert_eq!(wrong(0..150, memmap_ipc), [""; 0]);
}

#[test]
fn whatever_goes_wrong_simple_ipc_ends_as_it_should() {
    assert_eq!(wrong(0..150, simple_ipc), [""; 0]);
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let profile = support::profile();
    for scenario in [memmap_ipc, simple_ipc] {
        let staged = staged(scenario, &profile);
        for seed in 0..12 {
            let plan = Plan::of_seed(seed, Processes::InOne, Plan::MOST_DEVICES);
            let play = || in_one(&staged, &plan).expect("a machine");
            let (Trial { log, outcome, .. }, again) = (play(), play());
            assert_eq!(log, again.log, "seed {seed}");
            assert_eq!(outcome, again.outcome, "seed {seed}");
        }
    }
}
