//! Fills, verification and copies on a device, timed by its events.

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use peermap_bench::{DeviceWork, OnDevice};
use peermap_benches::device::{DeviceTime, Lab};

fn main() {
    let lab = Lab::open();
    let mut criterion = Criterion::default().with_measurement(lab.clock()).configure_from_args();
    work(&mut criterion, &lab);
    criterion.final_summary();
}

fn work(criterion: &mut Criterion<DeviceTime>, lab: &Lab) {
    let name = if lab.is_simulated() { "simulated device, time of the host" } else { "device" };
    let mut group = criterion.benchmark_group(name);
    group.sample_size(30).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for size in OnDevice::SIZES {
        let memory = match lab.memory(size) {
            Ok(memory) => memory,
            Err(error) => {
                eprintln!("{size} is skipped: {error}");
                continue;
            }
        };
        group.throughput(Throughput::BytesDecimal(memory.bytes()));
        for work in DeviceWork::ALL {
            let id = BenchmarkId::new(work.name(), format!("{} x {size}", memory.times()));
            // A row for each pair of events, as the suite of `peermap bench` does it.
            group.bench_function(id, |bencher| {
                let before = || memory.queue(work).expect("the driver takes the work");
                let row = |()| memory.queue_row(work).expect("the driver takes the work");
                bencher.iter_batched(before, row, BatchSize::PerIteration);
            });
        }
        memory.check().expect("every byte is as it was filled");
    }
    group.finish();
}
