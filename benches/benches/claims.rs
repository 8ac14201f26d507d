//! What the documentation claims about speed, measured in one run and judged.
//!
//! Prints one line for each claim and ends with 1 if one is missed. Without `--bench`, or with `--test`, it only tries
//! every way once and judges nothing.

use std::process::ExitCode;
use std::time::Duration;

use peermap_bench::barrier::Kind;
use peermap_benches::barrier::Crew;
use peermap_benches::bytes::{Kernel, Plain, Rig};
use peermap_benches::claim::{Bound, Claim, Measured};
use peermap_benches::control::Populated;
use peermap_benches::cores::on_cores;
use peermap_benches::load::Loader;
use peermap_benches::random_sets::{RandomSets, Tally};
use peermap_benches::timing::{in_turns, median, time};
use peermap_benches::worker;
use peermap_driver::ByteSize;
use peermap_ipc::limits::usable_cores;

const MEMBERS: u32 = 8;

/// How often things are measured.
#[derive(Clone, Copy)]
struct Effort {
    turns: usize,
    sleeping_rounds: u32,
    spinning_rounds: u32,
    live_mappings: usize,
    triples: u32,
    /// Sizes of what kernels fill, in mebibytes.
    sizes: &'static [u64],
}

const FULL: Effort = Effort {
    turns: 21,
    sleeping_rounds: 200,
    spinning_rounds: 8,
    live_mappings: 100_000,
    triples: 20_000,
    sizes: &[4, 64],
};
const QUICK: Effort =
    Effort { turns: 1, sleeping_rounds: 1, spinning_rounds: 1, live_mappings: 100, triples: 1, sizes: &[2] };

fn main() -> ExitCode {
    if worker::played() {
        return ExitCode::SUCCESS;
    }
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    let judged = given("--bench") && !given("--test");
    let effort = if judged { FULL } else { QUICK };
    let claims = [barrier(effort), control(effort), calls(effort), bytes(effort), cores(effort), load(effort)].concat();
    for claim in &claims {
        println!("{}", claim.line(judged));
    }
    match judged && !claims.iter().all(Claim::holds) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

fn barrier(effort: Effort) -> Vec<Claim> {
    let (mut sleeping, mut spinning) = (Crew::start(Kind::Sleeping, MEMBERS), Crew::start(Kind::Spinning, MEMBERS));
    let (ours, others): (Vec<_>, Vec<_>) = (0..effort.turns)
        .map(|_| (sleeping.rounds(effort.sleeping_rounds), spinning.rounds(effort.spinning_rounds)))
        .unzip();
    let (ours, other) = (median(ours.concat()), median(others.concat()));
    let crowded = (MEMBERS as usize) > usable_cores();
    let ratio = if crowded { Measured::Ratio { ours, other } } else { Measured::NotHere("a core for each worker") };
    vec![
        Claim {
            words: format!("barrier round of {MEMBERS} workers on fewer cores, against spinning"),
            measured: ratio,
            bound: Bound::RatioAtLeast(200.0),
        },
        Claim {
            words: format!("barrier round of {MEMBERS} workers"),
            measured: Measured::Time(ours),
            bound: Bound::AtMost(Duration::from_micros(150)),
        },
    ]
}

fn control(effort: Effort) -> Vec<Claim> {
    let mut populated = Populated::with(effort.live_mappings);
    let triples = |_| time(|| (0..effort.triples).for_each(|_| populated.map_and_unmap())) / effort.triples;
    let each = median((0..effort.turns).map(triples).collect());
    vec![Claim {
        words: format!("map, set access and unmap beside {} live mappings", effort.live_mappings),
        measured: Measured::Time(each),
        bound: Bound::AtMost(Duration::from_micros(1)),
    }]
}

fn calls(effort: Effort) -> Vec<Claim> {
    let sets = RandomSets::read();
    let (tallies, steps): (Vec<Tally>, Vec<Duration>) =
        (0..effort.turns).map(|_| (sets.play_calls(), sets.play_steps())).unzip();
    let Tally { counted, apart, .. } = tallies[0];
    let with_player = f64::from(counted) / median(steps).as_secs_f64();
    vec![Claim {
        words: format!(
            "simulated calls of the random sets, {apart} others left out; with the player's own work {with_player:.0} \
             a second"
        ),
        measured: Measured::Rate { count: counted, time: median(tallies.iter().map(|tally| tally.time).collect()) },
        bound: Bound::RateAtLeast(1_000_000),
    }]
}

fn bytes(effort: Effort) -> Vec<Claim> {
    let claims = effort.sizes.iter().flat_map(|mib| {
        let size = ByteSize::mib(*mib);
        let (rig, mut plain) = (Rig::new(size), Plain::new(size));
        Kernel::ALL.map(|kernel| against_plain(kernel, size, &rig, &mut plain, effort.turns))
    });
    claims.collect()
}

fn against_plain(kernel: Kernel, size: ByteSize, rig: &Rig, plain: &mut Plain, turns: usize) -> Claim {
    rig.run(kernel.fill());
    let mut compared = || match kernel.verifies() {
        true => assert!(plain.equal()),
        false => plain.fill(),
    };
    let (ours, other) = in_turns(turns, || rig.run(kernel), &mut compared);
    let other_name = if kernel.verifies() { "the comparison of two slices" } else { "slice::fill" };
    let least = match kernel {
        Kernel::FillByte => 0.1,
        Kernel::FillId | Kernel::VerifyId => 0.4,
        Kernel::FillPattern | Kernel::VerifyPattern => 0.25,
    };
    Claim {
        words: format!("{} of {size} on simulated memory, against {other_name}", kernel.entry()),
        measured: Measured::Ratio { ours, other },
        bound: Bound::RatioAtLeast(least),
    }
}

/// The fill byte by byte on one core, against `slice::fill`, and on two cores against one.
fn cores(effort: Effort) -> Vec<Claim> {
    let size = ByteSize::mib(*effort.sizes.last().expect("a size"));
    let (rig, mut plain) = (Rig::new(size), Plain::new(size));
    let run = || rig.run(Kernel::FillByte);
    let alone = on_cores(1, || in_turns(effort.turns, run, || plain.fill()));
    let two = on_cores(2, || in_turns(effort.turns, run, || on_cores(1, run).expect("one of two cores")));
    let ratio = |measured: Option<(Duration, Duration)>| match measured {
        Some((ours, other)) => Measured::Ratio { ours, other },
        None => Measured::NotHere("two cores"),
    };
    vec![
        Claim {
            words: format!("fill_byte of {size} on one core, against slice::fill"),
            measured: ratio(alone),
            bound: Bound::RatioAtLeast(0.1),
        },
        Claim {
            words: format!("fill_byte of {size} on two cores, against one"),
            measured: ratio(two),
            bound: Bound::RatioAtLeast(1.6),
        },
    ]
}

fn load(effort: Effort) -> Vec<Claim> {
    let loader = Loader::new();
    let fresh = median((0..effort.turns).map(|_| loader.load_new()).collect());
    let known = median((0..effort.turns).map(|_| loader.load_known()).collect());
    let instructions = Loader::instructions();
    vec![
        Claim {
            words: format!("load of kernels with {instructions} instructions"),
            measured: Measured::Time(fresh),
            bound: Bound::AtMost(Duration::from_millis(20)),
        },
        Claim {
            words: "the same once more".to_owned(),
            measured: Measured::Time(known),
            bound: Bound::AtMost(Duration::from_micros(100)),
        },
    ]
}
