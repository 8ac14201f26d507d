//! Handles, by way of the calls that use them.

use peermap_driver::{Call, DevicePtr, HandleType, MemHandle};

use crate::bench::{Bench, GRANULE, handle};
use crate::{Event, State, assert_table, table};

/// A handle, and where it is mapped if it is.
struct Subject {
    handle: MemHandle,
    at: DevicePtr,
}

fn mapped(bench: &mut Bench) -> Subject {
    let (handle, at) = (bench.create(GRANULE), bench.reserve(GRANULE));
    bench.map(at, GRANULE, handle).unwrap();
    Subject { handle, at }
}

fn release(bench: &mut Bench, handle: MemHandle) -> peermap_driver::Result<()> {
    bench.call(Call::cuMemRelease, |process, out| process.mem_release(out, handle))
}

fn retain(bench: &mut Bench, at: DevicePtr) -> peermap_driver::Result<()> {
    let call = Call::cuMemRetainAllocationHandle;
    bench.call(call, |process, out| process.mem_retain_allocation_handle(out, at)).map(|_| ())
}

const STATES: &[State<Subject>] = &[
    ("held", |bench| Subject { handle: bench.create(GRANULE), at: DevicePtr::new(1 << 41) }),
    ("held-mapped", mapped),
    ("retained-mapped", |bench| {
        let subject = mapped(bench);
        retain(bench, subject.at).unwrap();
        release(bench, subject.handle).unwrap();
        subject
    }),
    ("released-mapped", |bench| {
        let subject = mapped(bench);
        release(bench, subject.handle).unwrap();
        subject
    }),
    ("released", |bench| {
        let handle = bench.create(GRANULE);
        release(bench, handle).unwrap();
        Subject { handle, at: DevicePtr::new(1 << 41) }
    }),
    ("released-unmapped", |bench| {
        let subject = mapped(bench);
        release(bench, subject.handle).unwrap();
        bench.unmap(subject.at).unwrap();
        subject
    }),
    ("made-up", |_| Subject { handle: handle(0x1234), at: DevicePtr::new(1 << 41) }),
    ("null", |_| Subject { handle: MemHandle::NULL, at: DevicePtr::NULL }),
];

const EVENTS: &[Event<Subject>] = &[
    ("release", |bench, subject| release(bench, subject.handle)),
    ("map", |bench, subject| {
        let elsewhere = bench.reserve(GRANULE);
        bench.map(elsewhere, GRANULE, subject.handle)
    }),
    ("retain", |bench, subject| retain(bench, subject.at)),
    ("export", |bench, subject| {
        let posix = HandleType::POSIX_FILE_DESCRIPTOR;
        bench
            .call(Call::cuMemExportToShareableHandle, |process, out| {
                process.mem_export_to_shareable_handle(out, subject.handle, posix, 0)
            })
            .map(|_| ())
    }),
    ("properties", |bench, subject| {
        bench
            .call(Call::cuMemGetAllocationPropertiesFromHandle, |process, _| {
                process.mem_get_allocation_properties_from_handle(subject.handle)
            })
            .map(|_| ())
    }),
];

#[test]
fn handles() {
    assert_table(
        &table(STATES, EVENTS),
        "
                          release     map         retain      export      properties
        held              ok          ok          RETAIN-1    ok          ok
        held-mapped       ok          ok          ok          ok          ok
        retained-mapped   ok          ok          ok          ok          ok
        released-mapped   RELEASE-1   HANDLE-1    ok          HANDLE-1    HANDLE-1
        released          RELEASE-1   HANDLE-1    RETAIN-1    HANDLE-1    HANDLE-1
        released-unmapped RELEASE-1   HANDLE-1    RETAIN-1    HANDLE-1    HANDLE-1
        made-up           HANDLE-1    HANDLE-1    RETAIN-1    HANDLE-1    HANDLE-1
        null              RELEASE-2   MAP-2       RETAIN-1    EXPORT-1    PROPS-1
",
    );
}
