//! Contexts, as the thread sees them that makes the calls.

use peermap_driver::{ByteSize, Call, Context, CuResult, Device, DevicePtr, Stream};
use peermap_model::{ThreadId, WorkFault};

use crate::bench::{Bench, GRANULE, OTHER_THREAD, THREAD};
use crate::{Event, State, assert_table, table};

fn destroy(bench: &mut Bench, thread: ThreadId, context: Context) -> peermap_driver::Result<()> {
    bench.call(Call::cuCtxDestroy, |process, out| process.ctx_destroy(out, thread, context))
}

const STATES: &[State<Context>] = &[
    ("current", |bench| bench.context()),
    ("not-current", |bench| {
        let context = bench.context();
        bench.call(Call::cuCtxPopCurrent, |process, _| process.ctx_pop_current(THREAD)).unwrap();
        context
    }),
    ("covered", |bench| {
        let context = bench.context();
        bench.call(Call::cuCtxCreate, |process, outside| process.ctx_create(outside, THREAD, 0, Device(1))).unwrap();
        context
    }),
    ("destroyed-here", |bench| {
        let context = bench.context();
        destroy(bench, THREAD, context).unwrap();
        context
    }),
    ("destroyed-there", |bench| {
        let context = bench.context();
        destroy(bench, OTHER_THREAD, context).unwrap();
        context
    }),
    ("faulted", |bench| {
        let (handle, at) = (bench.create(GRANULE), bench.reserve(GRANULE));
        bench.map(at, GRANULE, handle).unwrap();
        let desc = [peermap_driver::AccessDesc::read_write(0)];
        bench.call(Call::cuMemSetAccess, |process, out| process.mem_set_access(out, at, GRANULE, &desc)).unwrap();
        bench.call(Call::cuMemsetD8, |process, _| process.memset_d8(THREAD, at, 1, GRANULE, Stream::NULL)).unwrap();
        let work = bench.begin();
        let fault = WorkFault {
            result: CuResult::ILLEGAL_ADDRESS,
            address: Some(DevicePtr::new(1)),
            what: "a store".to_owned(),
        };
        bench.finish(&work, Err(fault));
        bench.context()
    }),
];

const EVENTS: &[Event<Context>] = &[
    ("sync", |bench, _| bench.call(Call::cuCtxSynchronize, |process, _| process.ctx_synchronize(THREAD)).map(|_| ())),
    ("device", |bench, _| bench.call(Call::cuCtxGetDevice, |process, _| process.ctx_get_device(THREAD)).map(|_| ())),
    ("alloc", |bench, _| {
        bench.call(Call::cuMemAlloc, |process, out| process.mem_alloc(out, THREAD, ByteSize::new(1))).map(|_| ())
    }),
    ("stream", |bench, _| {
        bench.call(Call::cuStreamCreate, |process, outside| process.stream_create(outside, THREAD, 0)).map(|_| ())
    }),
    ("set", |bench, context| {
        bench.call(Call::cuCtxSetCurrent, |process, _| process.ctx_set_current(THREAD, Some(*context)))
    }),
    ("push", |bench, context| {
        bench.call(Call::cuCtxPushCurrent, |process, _| process.ctx_push_current(THREAD, *context))
    }),
    ("pop", |bench, _| bench.call(Call::cuCtxPopCurrent, |process, _| process.ctx_pop_current(THREAD)).map(|_| ())),
    ("destroy", |bench, context| destroy(bench, THREAD, *context)),
    ("create", |bench, _| {
        bench.call(Call::cuCtxCreate, |process, outside| process.ctx_create(outside, THREAD, 0, Device(0))).map(|_| ())
    }),
];

#[test]
fn contexts() {
    assert_table(
        &table(STATES, EVENTS),
        "
                        sync        device      alloc       stream      set         push        pop         destroy     create
        current         ok          ok          ok          ok          ok          ok          ok          ok          ok
        not-current     CTX-1       CTX-1       CTX-1       CTX-1       ok          ok          CTX-1       ok          ok
        covered         ok          ok          ok          ok          ok          ok          ok          ok          ok
        destroyed-here  CTX-1       CTX-1       CTX-1       CTX-1       CTX-2       CTX-2       CTX-1       CTX-2       ok
        destroyed-there CTX-3       CTX-3       CTX-3       CTX-3       CTX-2       CTX-2       ok          CTX-2       ok
        faulted         FAULT-1     FAULT-1     FAULT-1     FAULT-1     ok          ok          ok          ok          FAULT-1
",
    );
}
