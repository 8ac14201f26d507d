//! The kernels that fill and verify against `slice::fill` and the comparison of slices.

use criterion::{BenchmarkId, Criterion, Throughput};
use peermap_benches::bytes::{Kernel, Plain, Rig};
use peermap_driver::ByteSize;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for size in [ByteSize::mib(4), ByteSize::mib(64)] {
        buffer_of(&mut criterion, size);
    }
    criterion.final_summary();
}

fn buffer_of(criterion: &mut Criterion, size: ByteSize) {
    let mut group = criterion.benchmark_group("bytes");
    group.sample_size(30).throughput(Throughput::Bytes(size.get()));
    let mut plain = Plain::new(size);
    group.bench_function(BenchmarkId::new("slice fill", size), |bencher| bencher.iter(|| plain.fill()));
    group.bench_function(BenchmarkId::new("slice comparison", size), |bencher| bencher.iter(|| plain.equal()));
    let rig = Rig::new(size);
    for kernel in Kernel::ALL {
        rig.run(kernel.fill());
        let id = BenchmarkId::new(kernel.entry(), size);
        group.bench_function(id, |bencher| bencher.iter(|| rig.run(kernel)));
    }
    group.finish();
}
