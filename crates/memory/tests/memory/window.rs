use std::fs;
use std::thread;

use peermap_memory::{MINIMUM_WINDOW_BYTES, PREFERRED_WINDOW_BYTES, Table, WINDOW_ALIGNMENT, device_window};

use crate::setup::LARGE;

/// Start, end and rights of the mapping that holds an address.
fn mapping_of(address: u64) -> (u64, u64, String) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mappings = maps.lines().map(|line| {
        let mut fields = line.split([' ', '-']);
        let mut number = || u64::from_str_radix(fields.next().unwrap(), 16).unwrap();
        let (start, end) = (number(), number());
        (start, end, line.split(' ').nth(1).unwrap().to_owned())
    });
    mappings.into_iter().find(|(start, end, _)| (*start..*end).contains(&address)).unwrap()
}

#[test]
fn the_window_is_a_reservation_without_access() {
    let window = device_window().unwrap();
    let (_, end, rights) = mapping_of(window.base);
    assert_eq!(rights, "---p");
    assert!(end >= window.base + window.bytes, "{end:x} {window:?}");
}

#[test]
fn the_window_is_large_and_aligned() {
    let window = device_window().unwrap();
    assert!((MINIMUM_WINDOW_BYTES..=PREFERRED_WINDOW_BYTES).contains(&window.bytes));
    assert!(window.bytes.is_power_of_two());
    assert!(window.base.is_multiple_of(WINDOW_ALIGNMENT.min(window.bytes)));
}

#[test]
fn the_window_is_the_same_for_every_thread() {
    let here = device_window().unwrap();
    let others = [(); 4].map(|()| thread::spawn(|| device_window().unwrap()));
    assert_eq!(others.map(|thread| thread.join().unwrap()), [here; 4]);
}

#[test]
fn no_host_pointer_lies_in_the_window() {
    let window = device_window().unwrap();
    let range = window.base..window.base + window.bytes;
    let allocations: Vec<Vec<u8>> = (0..24).map(|shift| vec![1; 1 << shift]).collect();
    assert!(allocations.iter().all(|bytes| !range.contains(&(bytes.as_ptr() as u64))));
}

#[test]
fn a_table_covers_the_window() {
    let window = device_window().unwrap();
    let table = Table::new(window.base, window.bytes, LARGE).unwrap();
    assert_eq!((table.window_base(), table.window_bytes()), (window.base, window.bytes));
}
