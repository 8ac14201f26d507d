//! Processes that are killed, and the machine.

use std::os::fd::AsFd;
use std::sync::mpsc;
use std::time::Duration;

use peermap_driver::{AllocationProp, Device, Driver, DriverError, HandleType};
use peermap_ipc::Exit;
use peermap_model::Profile;

use crate::house::{House, Worker, keepers};
use crate::roles::{CHANNEL, hear, patience, role};
use crate::support::{GRANULE, create, export, import, map, mapped, read};

pub fn an_importer_reads_on_after_the_exporter_was_killed() {
    let mut house = House::new();
    let exporter = house.worker("exporter", None);
    let descriptor = hear(&exporter.channel).1.unwrap();
    let process = house.join();
    let ptr = map(&process, import(&process, &descriptor).unwrap(), GRANULE);
    drop(descriptor);
    exporter.kill();
    assert_eq!(read(&process, ptr, 4), [7; 4]);
    let holders = house.held();
    assert_eq!(keepers(&holders[0]), [(process.id().0, "a handle")]);
    drop(process);
    assert_eq!(house.held(), []);
}

pub fn a_killed_importer_frees_what_only_it_held() {
    let mut house = House::new();
    let process = house.join();
    let before = process.mem_get_info().unwrap();
    let importer = house.worker("importer", None);
    let (handle, ptr) = mapped(&process, GRANULE);
    let descriptor = export(&process, handle);
    importer.channel.send(b"memory", &[descriptor.as_fd()], patience()).unwrap();
    drop(descriptor);
    assert_eq!(importer.ask(b"look"), 0, "by now it has only its mapping");
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_release(handle).unwrap();
    let holders = house.held();
    assert_eq!(keepers(&holders[0]).iter().map(|(_, what)| *what).collect::<Vec<_>>(), ["mappings"]);
    let context = Profile::named("h200-x2").unwrap().driver_memory.context;
    assert_eq!(before.free.get() - process.mem_get_info().unwrap().free.get(), GRANULE.get() + context.get());
    importer.kill();
    assert_eq!(house.held(), []);
    assert_eq!(process.mem_get_info().unwrap(), before);
}

pub fn a_descriptor_in_a_killed_process_keeps_memory_no_longer() {
    let mut house = House::new();
    let process = house.join();
    let (child, channel) = role("keeper").connect(CHANNEL).unwrap();
    let keeper = Worker { child: child.spawn().unwrap(), channel };
    let handle = create(&process, 0, GRANULE);
    let descriptor = export(&process, handle);
    keeper.channel.send(b"memory", &[descriptor.as_fd()], patience()).unwrap();
    drop(descriptor);
    assert_eq!(hear(&keeper.channel).0, b"kept");
    process.mem_release(handle).unwrap();
    let holders = house.held();
    assert_eq!((keepers(&holders[0]).len(), holders[0].kept_by.len()), (0, 1));
    keeper.kill();
    assert_eq!(house.held(), []);
}

pub fn the_death_of_the_machine_is_an_error_and_no_hang() {
    let mut house = House::new();
    let process = house.join();
    let (_, ptr) = mapped(&process, GRANULE);
    house.machine.kill().unwrap();
    house.machine.wait(patience()).unwrap();
    let (sender, receiver) = mpsc::channel();
    let asking = process.clone();
    std::thread::spawn(move || {
        let prop = AllocationProp::pinned_on(0, HandleType::NONE);
        for _ in 0..2 {
            sender.send(asking.mem_create(GRANULE, &prop, 0).map(|_| ())).unwrap();
        }
    });
    for _ in 0..2 {
        let answer = receiver.recv_timeout(Duration::from_secs(60)).expect("the call comes back");
        assert!(matches!(answer, Err(DriverError::Host { .. })), "{answer:?}");
    }
    assert_eq!(read(&process, ptr, 1), [0], "what needs no machine goes on");
    assert!(house.client.ticket(patience()).is_err());
    assert!(house.client.account(patience()).is_err());
}

pub fn the_machine_ends_with_its_client() {
    let mut house = House::new();
    let process = house.join();
    let House { client, mut machine } = house;
    drop(client);
    assert_eq!(machine.wait(patience()).unwrap(), Exit::Code(0));
    let answer = process.mem_create(GRANULE, &AllocationProp::pinned_on(0, HandleType::NONE), 0);
    assert!(matches!(answer, Err(DriverError::Host { .. })));
    assert_eq!(process.device_get(0), Ok(Device(0)));
}
