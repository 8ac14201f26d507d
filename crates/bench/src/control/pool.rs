//! Stream-ordered allocation.

use peermap_driver::{ByteSize, Driver, HandleType, MemPool, MemPoolAttribute, MemPoolProps, Stream};

use crate::clock::timed;
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const FULL: [ByteSize; 4] = [ByteSize::new(4096), ByteSize::mib(2), ByteSize::mib(64), ByteSize::mib(512)];
const QUICK: [ByteSize; 2] = [ByteSize::mib(2), ByteSize::mib(64)];

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let sizes = rig.sizes(&FULL, &QUICK);
    let kinds = [("keeps", u64::MAX), ("gives back", 0)];
    sizes.into_iter().flat_map(|size| kinds.map(|(memory, threshold)| group(rig, size, memory, threshold))).collect()
}

fn group<'r>(rig: &'r Rig<'_>, size: ByteSize, memory: &str, threshold: u64) -> Planned<'r> {
    Planned {
        outputs: ["cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuStreamSynchronize"].map(Output::time).to_vec(),
        parameters: vec![("pool", memory.to_owned()), ("size", size.to_string())],
        make: Box::new(move || {
            let driver = rig.driver;
            let pool = driver.mem_pool_create(&MemPoolProps::pinned_on(rig.devices[0].0.0, HandleType::NONE))?;
            let group = Pooled { driver, pool, size };
            driver.mem_pool_set_attribute(pool, MemPoolAttribute::RELEASE_THRESHOLD, threshold)?;
            Ok(Box::new(group))
        }),
    }
}

struct Pooled<'d> {
    driver: &'d dyn Driver,
    pool: MemPool,
    size: ByteSize,
}

impl Group for Pooled<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { driver, pool, size } = *self;
        let (ptr, alloc) = timed(|| driver.mem_alloc_from_pool_async(size, pool, Stream::NULL))?;
        let ((), free) = timed(|| driver.mem_free_async(ptr, Stream::NULL))?;
        let ((), synchronize) = timed(|| driver.stream_synchronize(Stream::NULL))?;
        Ok(vec![alloc, free, synchronize])
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        drop(self.driver.mem_pool_destroy(self.pool));
    }
}
