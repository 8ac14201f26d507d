//! Context stacks of threads, and which devices a process sees.

use peermap_driver::{CuResult, Device, Driver};
use peermap_model::{Profile, visible_devices};

use crate::support::{GRANULE, create, export, import, in_context, machine, map, process, read, refusal, rule};

#[test]
fn each_logical_thread_has_a_stack_of_its_own() {
    let process = process(&machine());
    let (one, two) = (process.thread(0), process.thread(1));
    let first = one.ctx_create(0, Device(0)).unwrap();
    assert_eq!(two.ctx_get_current(), Ok(None));
    assert_eq!(rule(two.ctx_synchronize()), "CTX-1");
    let second = two.ctx_create(0, Device(1)).unwrap();
    assert_eq!((one.ctx_get_device(), two.ctx_get_device()), (Ok(Device(0)), Ok(Device(1))));
    two.ctx_push_current(first).unwrap();
    assert_eq!(two.ctx_get_device(), Ok(Device(0)));
    assert_eq!(two.ctx_pop_current(), Ok(first));
    assert_eq!(two.ctx_pop_current(), Ok(second));
    assert_eq!(refusal(two.ctx_pop_current()), ("CTX-1", Some(CuResult::INVALID_CONTEXT)));
    assert_eq!(one.ctx_get_current(), Ok(Some(first)));
}

#[test]
fn each_os_thread_has_a_stack_of_its_own() {
    let process = in_context(&machine());
    let ours = process.ctx_get_current().unwrap();
    std::thread::scope(|scope| {
        let there = scope.spawn(|| {
            let empty = process.ctx_get_current().unwrap();
            process.ctx_set_current(ours).unwrap();
            (empty, process.ctx_get_current().unwrap())
        });
        assert_eq!(there.join().unwrap(), (None, ours));
    });
    assert_eq!(process.ctx_get_current().unwrap(), ours);
}

#[test]
fn os_threads_and_logical_threads_do_not_share_stacks() {
    let process = in_context(&machine());
    assert_eq!(process.thread(0).ctx_get_current(), Ok(None));
}

#[test]
fn nothing_and_pop_uncover_the_context_below() {
    let process = process(&machine());
    let first = process.ctx_create(0, Device(0)).unwrap();
    let second = process.ctx_create(0, Device(1)).unwrap();
    process.ctx_set_current(None).unwrap();
    assert_eq!(process.ctx_get_current(), Ok(Some(first)));
    process.ctx_set_current(Some(second)).unwrap();
    assert_eq!(process.ctx_pop_current(), Ok(second));
    assert_eq!(process.ctx_get_current(), Ok(None), "set current replaces");
}

#[test]
fn a_context_that_another_thread_destroyed_is_current_and_of_no_use() {
    let process = process(&machine());
    let (one, two) = (process.thread(0), process.thread(1));
    let context = one.ctx_create(0, Device(0)).unwrap();
    two.ctx_destroy(context).unwrap();
    assert_eq!(refusal(one.ctx_synchronize()), ("CTX-3", Some(CuResult::CONTEXT_IS_DESTROYED)));
    assert_eq!(one.ctx_get_current(), Ok(Some(context)));
    assert_eq!(rule(two.ctx_set_current(Some(context))), "CTX-2");
    assert_eq!(rule(two.ctx_push_current(context)), "CTX-2");
    assert_eq!(rule(two.ctx_destroy(context)), "CTX-2");
    assert_eq!(one.ctx_pop_current(), Ok(context));
}

#[test]
fn a_context_takes_its_streams_and_events_along() {
    let process = in_context(&machine());
    let (stream, event) = (process.stream_create(0).unwrap(), process.event_create(0).unwrap());
    let ptr = process.mem_alloc(GRANULE).unwrap();
    process.ctx_destroy(process.ctx_get_current().unwrap().unwrap()).unwrap();
    process.ctx_create(0, Device(0)).unwrap();
    assert_eq!(rule(process.stream_query(stream)), "STREAM-2");
    assert_eq!(rule(process.event_query(event)), "EVENT-2");
    assert_eq!(rule(process.mem_free(ptr)), "ALLOC-3");
}

#[test]
fn the_primary_context_lives_until_its_last_release() {
    let process = process(&machine());
    let context = process.device_primary_ctx_retain(Device(1)).unwrap();
    assert_eq!(process.ctx_get_current(), Ok(None), "it does not become current");
    assert_eq!(process.device_primary_ctx_retain(Device(1)), Ok(context));
    process.ctx_set_current(Some(context)).unwrap();
    process.device_primary_ctx_release(Device(1)).unwrap();
    assert_eq!(process.ctx_get_device(), Ok(Device(1)));
    process.device_primary_ctx_release(Device(1)).unwrap();
    assert_eq!(rule(process.ctx_get_device()), "CTX-3");
    assert_eq!(rule(process.device_primary_ctx_release(Device(1))), "CTX-2");
}

#[test]
fn devices_are_numbered_as_the_process_sees_them() {
    let machine = machine();
    let uuids: Vec<_> = Profile::named("h200-x2").unwrap().devices.iter().map(|device| device.uuid).collect();
    let by_uuid = format!("{},0", uuids[1]);
    for (setting, expected) in
        [(None, vec![0, 1]), (Some("1"), vec![1]), (Some("1,0"), vec![1, 0]), (Some(by_uuid.as_str()), vec![1, 0])]
    {
        let process = machine.process_seeing(setting).unwrap();
        process.init(0).unwrap();
        let seen: Vec<_> = (0..process.device_get_count().unwrap())
            .map(|ordinal| process.device_get_uuid(Device(ordinal)).unwrap())
            .collect();
        let expected: Vec<_> = expected.into_iter().map(|index: usize| uuids[index]).collect();
        assert_eq!(seen, expected, "{setting:?}");
        assert_eq!(visible_devices(setting, &uuids).len(), expected.len());
    }
}

#[test]
fn a_process_without_devices_cannot_initialise() {
    for setting in ["", "7", "0,0"] {
        let process = machine().process_seeing(Some(setting)).unwrap();
        assert_eq!(refusal(process.init(0)), ("INIT-3", Some(CuResult::NO_DEVICE)), "{setting:?}");
    }
}

#[test]
fn memory_lies_where_the_creator_s_ordinal_points() {
    let machine = machine();
    let (straight, turned) = (in_context(&machine), machine.process_seeing(Some("1,0")).unwrap());
    turned.init(0).unwrap();
    turned.ctx_create(0, Device(1)).unwrap();
    let free = |driver: &dyn Driver| driver.mem_get_info().unwrap().free;
    let before = free(&straight);
    let handle = create(&turned, 1, GRANULE);
    assert_eq!(before.get() - free(&straight).get(), GRANULE.get(), "its device 1 is our device 0");
    assert_eq!(free(&straight), free(&turned));
    let imported = import(&straight, &export(&turned, handle)).unwrap();
    let prop = straight.mem_get_allocation_properties_from_handle(imported).unwrap();
    assert_eq!(prop.location.id, 0, "the importer sees it by its own ordinal");
    assert_eq!(read(&straight, map(&straight, imported, GRANULE), 1), [0]);
}
