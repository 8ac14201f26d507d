//! Sharing between processes.

use std::time::{Duration, Instant};

use peermap_driver::{Driver, DriverError, Stream};

use crate::house::{House, keepers};
use crate::roles::{hear, patience};
use crate::support::{GRANULE, import, map, mapped, read};
use crate::waiting_kernel::{await_and_tell, queue};

pub fn two_processes_see_the_same_bytes() {
    let mut house = House::new();
    let exporter = house.worker("exporter", None);
    let (word, descriptor) = hear(&exporter.channel);
    assert_eq!(word, b"memory");
    let process = house.join();
    let ptr = map(&process, import(&process, &descriptor.unwrap()).unwrap(), GRANULE);
    assert_eq!(read(&process, ptr, GRANULE.to_usize().unwrap()), vec![7; GRANULE.to_usize().unwrap()]);
    process.memset_d8(ptr, 8, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    assert_eq!(exporter.ask(b"look"), 8);
    let holders = house.held();
    assert_eq!((holders.len(), keepers(&holders[0]).len(), holders[0].kept_by.len()), (1, 2, 2));
}

pub fn the_bytes_of_a_fill_arrive_only_after_a_wait() {
    let mut house = House::new();
    let exporter = house.worker("exporter", None);
    let descriptor = hear(&exporter.channel).1.unwrap();
    let process = house.join();
    let ptr = map(&process, import(&process, &descriptor).unwrap(), GRANULE);
    exporter.ask(b"fill");
    assert_eq!(read(&process, ptr, 1), [7], "queued is not done");
    exporter.ask(b"wait");
    assert_eq!(read(&process, ptr, 1), [9]);
}

pub fn a_device_has_one_uuid_and_an_ordinal_per_process() {
    let mut house = House::new();
    let all = house.worker("seer", None);
    let uuids = String::from_utf8(hear(&all.channel).0).unwrap();
    let (first, second) = uuids.split_once(',').expect("two devices");
    assert_ne!(first, second);
    for (setting, expected) in
        [("1", second.to_owned()), ("1,0", format!("{second},{first}")), (second, second.to_owned())]
    {
        let some = house.worker("seer", Some(setting));
        assert_eq!(String::from_utf8(hear(&some.channel).0).unwrap(), expected, "{setting}");
        let holders = house.held();
        assert_eq!(holders.last().unwrap().place, "device 1", "its device 0 under {setting} is our device 1");
        some.kill();
    }
}

pub fn the_grace_between_processes_is_time() {
    let mut house = House::of("machine with grace");
    let process = house.join();
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    let give_up = Instant::now() + Duration::from_secs(60);
    while process.stream_query(Stream::NULL).is_err() {
        assert!(Instant::now() < give_up && !patience().has_passed(), "the work never ran");
        std::thread::yield_now();
    }
    assert_eq!(read(&process, ptr, 1), [1]);
}

/// No grace makes the work of the other process run: the kernel that waits for it does.
pub fn a_kernel_waits_for_another_process() {
    let mut house = House::new();
    let exporter = house.worker("exporter", None);
    let descriptor = hear(&exporter.channel).1.unwrap();
    let process = house.join();
    let flag = map(&process, import(&process, &descriptor).unwrap(), GRANULE);
    let far = mapped(&process, GRANULE).1;
    exporter.ask(b"fill");
    queue(&process, await_and_tell(&process), Stream::NULL, (flag, 0x0909_0909), (far, 3));
    process.ctx_synchronize().unwrap();
    assert_eq!(read(&process, far, 1), [3]);
}

/// Who joins makes the checks of the machine.
pub fn a_check_knows_what_other_processes_wrote() {
    let mut house = House::of("machine with checks");
    let exporter = house.worker("exporter", None);
    let descriptor = hear(&exporter.channel).1.unwrap();
    let process = house.join();
    let flag = map(&process, import(&process, &descriptor).unwrap(), GRANULE);
    let (far, unwritten) = (mapped(&process, GRANULE).1, mapped(&process, GRANULE).1);
    let function = await_and_tell(&process);
    queue(&process, function, Stream::NULL, (flag, 0x0707_0707), (far, 3));
    process.ctx_synchronize().unwrap();
    queue(&process, function, Stream::NULL, (unwritten, 1), (far, 3));
    let error = process.ctx_synchronize().unwrap_err();
    assert!(matches!(&error, DriverError::Finding { what } if what.contains(&unwritten.to_string())), "{error}");
}
