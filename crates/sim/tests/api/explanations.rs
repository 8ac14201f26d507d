//! A refusal says which rule, which values, and which earlier call it collides with.

use peermap_driver::{
    AllocationProp, ByteSize, CallSite, Driver, DriverError, Explanation, HandleType, Location, MemHandle, Value,
};

use crate::support::{GRANULE, create, machine, mapped, offset, process, reserve};

fn explained<T: std::fmt::Debug>(answer: Result<T, DriverError>) -> Explanation {
    answer.unwrap_err().explanation().expect("the simulator explains").clone()
}

fn fact<'a>(explanation: &'a Explanation, name: &str) -> &'a Value {
    let found = explanation.facts.iter().find(|(known, _)| *known == name);
    &found.unwrap_or_else(|| panic!("no fact {name} in {explanation}")).1
}

/// Call name and number of the earlier call.
fn earlier(explanation: &Explanation) -> (&'static str, u64) {
    let CallSite { number, call, .. } = explanation.earlier.expect("there is an earlier call");
    (call.name(), number)
}

#[test]
fn a_mapping_over_another_names_it_and_the_call_that_made_it() {
    let process = process(&machine()); // cuInit is call 1
    let (first, ptr) = mapped(&process, GRANULE); // create 2, reserve 3, map 4, set access 5
    let explanation = explained(process.mem_map(ptr, GRANULE, ByteSize::ZERO, first, 0));
    assert_eq!(explanation.rule.0, "MAP-8");
    assert_eq!(fact(&explanation, "ptr"), &Value::Address(ptr.get()));
    assert_eq!(fact(&explanation, "mapping"), &Value::Address(ptr.get()));
    assert_eq!(fact(&explanation, "size"), &Value::Bytes(GRANULE.get()));
    assert_eq!(earlier(&explanation), ("cuMemMap", 4));
    let text = explanation.to_string();
    assert!(text.starts_with("MAP-8: a mapping may not lie over another; ptr 0x"), "{text}");
    assert!(text.ends_with("; see cuMemMap (call 4 of process 0)"), "{text}");
}

#[test]
fn a_reservation_that_is_still_mapped_names_the_mapping() {
    let process = process(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    let explanation = explained(process.mem_address_free(ptr, GRANULE));
    assert_eq!((explanation.rule.0, earlier(&explanation)), ("FREE-2", ("cuMemMap", 4)));
    assert_eq!(fact(&explanation, "mapping"), &Value::Address(ptr.get()));
}

#[test]
fn a_cut_mapping_is_named_with_its_size() {
    let process = process(&machine());
    let (_, ptr) = mapped(&process, ByteSize::mib(4));
    let explanation = explained(process.mem_unmap(ptr, GRANULE));
    assert_eq!((explanation.rule.0, earlier(&explanation)), ("UNMAP-3", ("cuMemMap", 4)));
    assert_eq!(fact(&explanation, "mapping_size"), &Value::Bytes(4 << 20));
    assert_eq!(fact(&explanation, "size"), &Value::Bytes(2 << 20));
}

#[test]
fn a_wrong_size_is_shown_beside_the_right_one() {
    let process = process(&machine());
    let handle = create(&process, 0, ByteSize::mib(4));
    let ptr = reserve(&process, ByteSize::mib(4));
    let explanation = explained(process.mem_map(ptr, GRANULE, ByteSize::ZERO, handle, 0));
    assert_eq!((explanation.rule.0, earlier(&explanation)), ("MAP-5", ("cuMemCreate", 2)));
    assert_eq!(fact(&explanation, "allocation"), &Value::Bytes(4 << 20));
    let explanation =
        explained(process.mem_create(ByteSize::new(5), &AllocationProp::pinned_on(0, HandleType::NONE), 0));
    assert_eq!((explanation.rule.0, explanation.earlier), ("CREATE-7", None));
    assert_eq!(fact(&explanation, "granularity"), &Value::Bytes(2 << 20));
}

#[test]
fn a_copy_names_the_first_byte_that_it_may_not_reach() {
    let process = process(&machine());
    process.ctx_create(0, peermap_driver::Device(0)).unwrap();
    let (_, ptr) = mapped(&process, GRANULE);
    let explanation = explained(process.memset_d8(ptr, 1, ByteSize::mib(4)));
    assert_eq!(explanation.rule.0, "COPY-1");
    assert_eq!(fact(&explanation, "refused_at"), &Value::Address(offset(ptr, GRANULE.get()).get()));
    process.mem_unmap(ptr, GRANULE).unwrap();
    let explanation = explained(process.memset_d8(ptr, 1, GRANULE));
    assert_eq!(earlier(&explanation).0, "cuMemUnmap", "who took the memory away");
}

#[test]
fn out_of_memory_says_how_much_is_free() {
    let process = process(&machine());
    let prop = AllocationProp::pinned_on(0, HandleType::NONE);
    let explanation = explained(process.mem_create(ByteSize::gib(1024), &prop, 0));
    assert_eq!(explanation.rule.0, "CREATE-10");
    let total = process.device_total_mem(peermap_driver::Device(0)).unwrap().get();
    assert_eq!(fact(&explanation, "free"), &Value::Bytes(total - 3_407_872), "all but what the driver has");
}

#[test]
fn a_crash_of_the_real_driver_is_reported_and_does_not_happen() {
    let process = process(&machine());
    let handle = create(&process, 0, GRANULE);
    process.mem_release(handle).unwrap();
    let posix = HandleType::POSIX_FILE_DESCRIPTOR;
    // SAFETY: the simulator follows no handle; a made-up one is what this test is about.
    let made_up = unsafe { MemHandle::from_raw(0x1234) };
    for handle in [handle, made_up] {
        let error = process.mem_export_to_shareable_handle(handle, posix, 0).unwrap_err();
        assert!(matches!(error, DriverError::WouldCrash { .. }), "{error}");
        assert_eq!((error.rule().unwrap().0, error.result()), ("HANDLE-1", None));
        assert_eq!(fact(error.explanation().unwrap(), "handle"), &Value::Handle(handle.as_raw()));
    }
}

#[test]
fn what_a_careful_program_does_not_do_is_noted_with_its_rule() {
    let process = process(&machine());
    let (handle, ptr) = mapped(&process, GRANULE);
    assert_eq!(process.misuses(), []);
    process.mem_get_access(ptr, Location { kind: peermap_driver::LocationType::HOST, id: 0 }).unwrap();
    process.mem_unmap(ptr, ByteSize::mib(4)).unwrap();
    let large = create(&process, 0, ByteSize::mib(4));
    process.mem_map(ptr, ByteSize::mib(4), ByteSize::ZERO, large, 0).unwrap();
    process.mem_release(handle).unwrap();
    let rules: Vec<_> = process.misuses().iter().map(|misuse| misuse.rule.0).collect();
    assert_eq!(rules, ["GETACCESS-3", "UNMAP-4", "MAP-9"]);
    let hole = &process.misuses()[1];
    assert_eq!(
        (fact(hole, "hole"), earlier(hole)),
        (&Value::Address(ptr.get() + (2 << 20)), ("cuMemAddressReserve", 3))
    );
    assert_eq!(fact(hole, "by"), &Value::Text("cuMemUnmap (call 7 of process 0)".to_owned()));
    let overhang = &process.misuses()[2];
    assert_eq!((fact(overhang, "over"), earlier(overhang).0), (&Value::Bytes(2 << 20), "cuMemAddressReserve"));
}
