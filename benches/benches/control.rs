//! What calls cost on a simulated process with 100,000 live mappings.

use criterion::Criterion;
use peermap_benches::control::Populated;

const LIVE: usize = 100_000;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    calls(&mut criterion);
    criterion.final_summary();
}

fn calls(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("{LIVE} live mappings"));
    let mut populated = Populated::with(LIVE);
    group.bench_function("map, set access, unmap", |bencher| bencher.iter(|| populated.map_and_unmap()));
    group.bench_function("get access", |bencher| bencher.iter(|| populated.get_access()));
    group.bench_function("reserve, free", |bencher| bencher.iter(|| populated.reserve_and_free()));
    group.bench_function("create, release", |bencher| bencher.iter(|| populated.create_and_release()));
    group.bench_function("export, import, release", |bencher| bencher.iter(|| populated.export_and_import()));
    group.bench_function("memset of 16 B, wait", |bencher| bencher.iter(|| populated.memset_and_wait()));
    group.finish();
}
