//! Addresses: reservations, mappings, rights.

use peermap_driver::{AccessDesc, AccessFlags, ByteSize, Call, DevicePtr, Location, MemHandle, Result, Stream};

use crate::bench::{Bench, GRANULE, THREAD};
use crate::{Event, State, assert_table, table};

/// An address, and a handle that is mapped there or could be.
struct Subject {
    at: DevicePtr,
    handle: MemHandle,
}

fn reserved(bench: &mut Bench) -> Subject {
    Subject { at: bench.reserve(GRANULE), handle: bench.create(GRANULE) }
}

fn mapped(bench: &mut Bench) -> Subject {
    let subject = reserved(bench);
    bench.map(subject.at, GRANULE, subject.handle).unwrap();
    subject
}

fn set_access(bench: &mut Bench, at: DevicePtr, flags: AccessFlags) -> Result<()> {
    let desc = [AccessDesc { location: Location::device(0), flags }];
    bench.call(Call::cuMemSetAccess, |process, out| process.mem_set_access(out, at, GRANULE, &desc))
}

fn mapped_with(bench: &mut Bench, flags: AccessFlags) -> Subject {
    let subject = mapped(bench);
    set_access(bench, subject.at, flags).unwrap();
    subject
}

fn free(bench: &mut Bench, at: DevicePtr, size: ByteSize) -> Result<()> {
    bench.call(Call::cuMemAddressFree, |process, _| process.mem_address_free(at, size))
}

/// The addresses behind a reservation, where a mapping of its neighbour hangs over.
fn overhung(bench: &mut Bench) -> Subject {
    let (first, large) = (bench.reserve(GRANULE), bench.create(ByteSize::mib(4)));
    bench.map(first, ByteSize::mib(4), large).unwrap();
    let behind = first.checked_add(GRANULE).unwrap();
    let reserved = bench
        .call(Call::cuMemAddressReserve, |process, _| process.mem_address_reserve(GRANULE, ByteSize::ZERO, behind, 0));
    assert_eq!(reserved, Ok(behind), "reservations may be handed out where a mapping hangs over");
    Subject { at: behind, handle: bench.create(GRANULE) }
}

const STATES: &[State<Subject>] = &[
    ("nothing", |bench| Subject { at: DevicePtr::new(1 << 41), handle: bench.create(GRANULE) }),
    ("reserved", reserved),
    ("mapped", mapped),
    ("readable", |bench| mapped_with(bench, AccessFlags::READ)),
    ("writable", |bench| mapped_with(bench, AccessFlags::READWRITE)),
    ("rights-taken", |bench| {
        let subject = mapped_with(bench, AccessFlags::READWRITE);
        set_access(bench, subject.at, AccessFlags::NONE).unwrap();
        subject
    }),
    ("unmapped", |bench| {
        let subject = mapped_with(bench, AccessFlags::READWRITE);
        bench.unmap(subject.at).unwrap();
        subject
    }),
    ("overhung", overhung),
    ("freed", |bench| {
        let subject = reserved(bench);
        free(bench, subject.at, GRANULE).unwrap();
        subject
    }),
];

#[test]
fn places() {
    const EVENTS: &[Event<Subject>] = &[
        ("free", |bench, subject| free(bench, subject.at, GRANULE)),
        ("free-part", |bench, subject| free(bench, subject.at, ByteSize::mib(1))),
        ("map", |bench, subject| bench.map(subject.at, GRANULE, subject.handle)),
        ("unmap", |bench, subject| bench.unmap(subject.at)),
        ("unmap-part", |bench, subject| {
            bench.call(Call::cuMemUnmap, |process, out| process.mem_unmap(out, subject.at, ByteSize::mib(1)))
        }),
        ("retain", |bench, subject| {
            let call = Call::cuMemRetainAllocationHandle;
            bench.call(call, |process, out| process.mem_retain_allocation_handle(out, subject.at)).map(|_| ())
        }),
    ];
    assert_table(
        &table(STATES, EVENTS),
        "
                     free        free-part   map         unmap       unmap-part  retain
        nothing      FREE-1      FREE-1      MAP-6       UNMAP-2     UNMAP-2     RETAIN-1
        reserved     ok          FREE-1      ok          ok          ok          RETAIN-1
        mapped       FREE-2      FREE-1      MAP-8       ok          UNMAP-3     ok
        readable     FREE-2      FREE-1      MAP-8       ok          UNMAP-3     ok
        writable     FREE-2      FREE-1      MAP-8       ok          UNMAP-3     ok
        rights-taken FREE-2      FREE-1      MAP-8       ok          UNMAP-3     ok
        unmapped     ok          FREE-1      ok          ok          ok          RETAIN-1
        overhung     FREE-2      FREE-1      MAP-8       UNMAP-3     UNMAP-3     ok
        freed        FREE-1      FREE-1      MAP-6       UNMAP-2     UNMAP-2     RETAIN-1
",
    );
}

#[test]
fn rights() {
    const EVENTS: &[Event<Subject>] = &[
        ("set-none", |bench, subject| set_access(bench, subject.at, AccessFlags::NONE)),
        ("set-read", |bench, subject| set_access(bench, subject.at, AccessFlags::READ)),
        ("set-write", |bench, subject| set_access(bench, subject.at, AccessFlags::READWRITE)),
        ("get", |bench, subject| {
            let location = Location::device(0);
            bench.call(Call::cuMemGetAccess, |process, _| process.mem_get_access(subject.at, location)).map(|_| ())
        }),
        ("range", |bench, subject| {
            let call = Call::cuMemGetAddressRange;
            bench.call(call, |process, _| process.mem_get_address_range(THREAD, subject.at)).map(|_| ())
        }),
        ("load", |bench, subject| {
            let call = Call::cuMemcpyDtoH;
            bench.call(call, |process, _| process.memcpy_dtoh(THREAD, 0, subject.at, GRANULE, Stream::NULL)).map(|_| ())
        }),
        ("store", |bench, subject| {
            bench.call(Call::cuMemsetD8, |process, _| process.memset_d8(THREAD, subject.at, 1, GRANULE, Stream::NULL))
        }),
    ];
    assert_table(
        &table(STATES, EVENTS),
        "
                     set-none    set-read    set-write   get         range       load        store
        nothing      ACCESS-4    ACCESS-4    ACCESS-4    GETACCESS-1 RANGE-1     COPY-1      COPY-1
        reserved     ACCESS-4    ACCESS-4    ACCESS-4    GETACCESS-1 RANGE-1     COPY-1      COPY-1
        mapped       ok          ok          ok          ok          RANGE-2     COPY-1      COPY-1
        readable     ok          ok          ok          ok          ok          ok          COPY-1
        writable     ok          ok          ok          ok          ok          ok          ok
        rights-taken ok          ok          ok          ok          RANGE-2     COPY-1      COPY-1
        unmapped     ACCESS-4    ACCESS-4    ACCESS-4    GETACCESS-1 RANGE-1     COPY-1      COPY-1
        overhung     ACCESS-5    ACCESS-5    ACCESS-5    ok          RANGE-2     COPY-1      COPY-1
        freed        ACCESS-4    ACCESS-4    ACCESS-4    GETACCESS-1 RANGE-1     COPY-1      COPY-1
",
    );
}
