//! A message with descriptors to another process, and its answer.

use criterion::{Criterion, Throughput};
use peermap_benches::transport::Echo;
use peermap_benches::worker;
use peermap_ipc::MAX_FDS_PER_MESSAGE;

fn main() {
    if worker::played() {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    round_trips(&mut criterion);
    criterion.final_summary();
}

fn round_trips(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("descriptors per message");
    let echo = Echo::start();
    for count in [1, 16, MAX_FDS_PER_MESSAGE] {
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(count.to_string(), |bencher| bencher.iter(|| echo.round_trip(count)));
    }
    group.finish();
}
