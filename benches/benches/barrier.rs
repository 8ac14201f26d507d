//! A round of the barrier: members that sleep against members that spin, with as many members as cores and with more.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode};
use peermap_bench::barrier::Kind;
use peermap_benches::barrier::Crew;
use peermap_benches::worker;
use peermap_ipc::limits::usable_cores;

/// Members where a core has to be shared.
const CROWD: u32 = 8;

fn main() {
    if worker::played() {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    rounds(&mut criterion);
    criterion.final_summary();
}

fn rounds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("barrier round");
    // A round of spinning members takes as long as the kernel lets each spin, and it does not vary: a few will do.
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    let cores = u32::try_from(usable_cores()).unwrap_or(CROWD).min(CROWD);
    let mut crews = vec![cores, CROWD];
    crews.dedup();
    for members in crews {
        for kind in [Kind::Sleeping, Kind::Spinning] {
            let mut crew = Crew::start(kind, members);
            group.bench_function(BenchmarkId::new(format!("{kind:?}"), members), |bencher| {
                bencher.iter_custom(|rounds| crew.rounds(u32::try_from(rounds).unwrap_or(u32::MAX)).iter().sum());
            });
        }
    }
    group.finish();
}
