//! What a machine tells of its memory: who holds it, what was left, and what was misused.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, AsRawFd};

use peermap_driver::{Driver, IpcMemHandle, Stream};
use peermap_ipc::{Channel, Deadline};
use peermap_model::{Grace, Policy};
use peermap_report::{Account, SimulatedProcess};
use peermap_sim::SimMachine;

use crate::support::{GRANULE, create, export, import, in_context, machine, machine_with, mapped, process};

fn told(machine: &SimMachine) -> Account {
    machine.account().unwrap()
}

/// The rules of what was misused, with the process that did it.
fn misused(machine: &SimMachine) -> Vec<(String, u32)> {
    told(machine).misuses.into_iter().map(|misuse| (misuse.rule, misuse.process)).collect()
}

#[test]
fn a_machine_that_was_treated_well_has_nothing_to_tell() {
    let machine = machine();
    let process = in_context(&machine);
    let (handle, ptr) = mapped(&process, GRANULE);
    assert!(!told(&machine).is_clean(), "something is held");
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_release(handle).unwrap();
    let here = SimulatedProcess { process: process.id().0, pid: std::process::id() };
    assert_eq!(told(&machine).processes, [here]);
    drop(process);
    let account = told(&machine);
    assert!(account.is_clean(), "{account:?}");
    assert_eq!(account.processes, []);
}

#[test]
fn what_a_process_left_is_told_with_its_maker_and_how_it_was_held() {
    let machine = machine();
    let (owner, other) = (process(&machine), process(&machine));
    create(&owner, 0, GRANULE);
    let shared = create(&owner, 1, GRANULE);
    let descriptor = export(&owner, shared);
    other.mem_release(import(&other, &descriptor).unwrap()).unwrap();
    owner.mem_release(shared).unwrap();
    let process = owner.id().0;
    drop(owner);
    drop(other);
    let account = told(&machine);
    let [left] = &account.left[..] else { panic!("one process left something: {account:?}") };
    let [held] = &left.held[..] else { panic!("it left one thing: {left:?}") };
    let keepers: Vec<_> = held.kept_by.iter().map(|keeper| (keeper.process, &*keeper.what)).collect();
    assert_eq!((left.process, &*held.made_by), (process, "cuMemCreate (call 2 of process 0)"));
    assert_eq!((keepers, account.all_left), (vec![(Some(process), "a handle")], 1));
    let [held] = &account.held[..] else { panic!("the descriptor keeps what it is of: {account:?}") };
    let by = held.kept_by.iter().map(|keeper| keeper.fd).collect::<Vec<_>>();
    assert_eq!((held.bytes, by), (GRANULE.get(), vec![Some(descriptor.as_raw_fd())]));
}

#[test]
fn a_descriptor_is_told_with_the_processes_that_have_it_open_and_while_it_is_on_its_way() {
    let machine = machine();
    let process = process(&machine);
    let memory = create(&process, 0, GRANULE);
    let descriptor = export(&process, memory);
    process.mem_release(memory).unwrap();
    let copy = descriptor.try_clone().unwrap();
    let places =
        || -> BTreeSet<_> { told(&machine).held[0].kept_by.iter().map(|keeper| (keeper.pid, keeper.fd)).collect() };
    let here = |fd: i32| (Some(std::process::id()), Some(fd));
    assert_eq!(places(), BTreeSet::from([here(descriptor.as_raw_fd()), here(copy.as_raw_fd())]));
    let (one, other) = Channel::pair().unwrap();
    one.send(b"take this", &[copy.as_fd()], Deadline::NEVER).unwrap();
    drop((descriptor, copy));
    assert_eq!(places(), BTreeSet::from([(None, None)]));
    let line = told(&machine).lines(true).join("");
    assert!(line.contains("kept by a descriptor on its way between processes from cuMemExport"), "{line}");
    drop((one, other));
    assert!(told(&machine).is_clean());
}

#[test]
fn a_process_that_ends_with_work_that_nobody_saw_through_is_told_of() {
    for grace in [Grace::Never, Grace::Calls(0)] {
        let machine = machine_with(Policy::Measured, grace);
        let process = in_context(&machine);
        let (handle, ptr) = mapped(&process, GRANULE);
        process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
        // Whether it has run by luck makes no difference.
        process.ctx_get_device().unwrap();
        process.mem_release(handle).unwrap();
        drop(process);
        assert_eq!(misused(&machine), [("EXIT-1".to_owned(), 0)]);
        let text = &told(&machine).misuses[0].text;
        assert!(text.contains("by the end of process 0; see cuMemsetD8Async (call"), "{text}");
    }
    let machine = machine();
    let process = in_context(&machine);
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
    process.ctx_synchronize().unwrap();
    drop(process);
    assert_eq!(misused(&machine), []);
}

#[test]
fn an_exporter_that_ends_while_another_process_has_its_memory_open_is_told_of() {
    let machine = machine();
    let (owner, opener) = (in_context(&machine), in_context(&machine));
    let memory = owner.mem_alloc(GRANULE).unwrap();
    let handle = owner.ipc_get_mem_handle(memory).unwrap();
    opener.ipc_open_mem_handle(&handle, IpcMemHandle::LAZY_ENABLE_PEER_ACCESS).unwrap();
    drop(owner);
    assert_eq!(misused(&machine), [("ALLOC-4".to_owned(), 0)]);
    let text = &told(&machine).misuses[0].text;
    assert!(text.contains("by the end of process 0; see cuIpcOpenMemHandle (call"), "{text}");
}

#[test]
fn the_machine_knows_a_misuse_when_the_call_returns() {
    let machine = machine();
    let process = in_context(&machine);
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(misused(&machine), [("UNMAP-5".to_owned(), 0)]);
    process.ctx_get_device().unwrap();
    assert_eq!(told(&machine).all_misuses, 1, "once");
}

#[test]
fn what_is_remembered_is_bounded_and_counted() {
    let machine = machine();
    for _ in 0..300 {
        let process = process(&machine);
        create(&process, 0, GRANULE);
    }
    let account = told(&machine);
    assert_eq!((account.all_left, account.left.len()), (300, 256));
    assert_eq!(account.left.last().unwrap().process, 299);
    assert_eq!(account.lines(true).last().unwrap(), "and 44 more like that");
}

#[test]
fn a_process_whose_work_faulted_is_not_blamed_for_what_it_cannot_give_back() {
    let machine = machine();
    let process = in_context(&machine);
    let (handle, ptr) = mapped(&process, GRANULE);
    let memory = process.mem_alloc(GRANULE).unwrap();
    process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.ctx_synchronize().unwrap_err();
    process.mem_free(memory).unwrap_err();
    process.mem_release(handle).unwrap();
    drop(process);
    assert_eq!(told(&machine).left, []);
    assert_eq!(misused(&machine), [("UNMAP-5".to_owned(), 0)]);
}
