use peermap_memory::{Backing, MemoryError, Part, Rights, Table};

use crate::setup::{BASE, LARGE, PAGE, SMALL};

const BACKING: Backing = Backing { arena: 200, first_granule: 1000 };

fn table() -> Table {
    Table::new(BASE, 16 * SMALL, SMALL).unwrap()
}

#[test]
fn entries_give_back_what_was_set() {
    let table = table();
    table.set(BASE + SMALL, 2, BACKING, Rights::READ);
    let entry = table.lookup(BASE + 3 * SMALL - 1).unwrap();
    assert_eq!((entry.arena(), entry.granule(), entry.rights()), (200, 1001, Rights::READ));
    assert_eq!(table.lookup(BASE + SMALL).unwrap().granule(), 1000);
    assert_eq!(table.lookup(BASE + SMALL - 1), None);
    assert_eq!(table.lookup(BASE + 3 * SMALL), None);
}

#[test]
fn every_set_of_rights_is_kept() {
    let table = table();
    let all = [Rights::NONE, Rights::READ, Rights { read: false, write: true }, Rights::READ_WRITE];
    let kept = all.map(|rights| {
        table.set(BASE, 1, BACKING, rights);
        table.lookup(BASE).unwrap().rights()
    });
    assert_eq!(kept, all);
}

#[test]
fn the_largest_numbers_do_not_touch_each_other() {
    let table = table();
    let last = Backing { arena: 255, first_granule: (1 << 40) - 2 };
    table.set(BASE, 2, last, Rights::NONE);
    let entry = table.lookup(BASE + SMALL).unwrap();
    assert_eq!((entry.arena(), entry.granule(), entry.rights()), (255, (1 << 40) - 1, Rights::NONE));
}

#[test]
fn clearing_touches_its_range_only() {
    let table = table();
    table.set(BASE, 16, BACKING, Rights::READ_WRITE);
    table.clear(BASE + 3 * SMALL, 2);
    let present: Vec<_> = (0..16).filter(|granule| table.lookup(BASE + granule * SMALL).is_some()).collect();
    assert_eq!(present, [0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
}

#[test]
fn nothing_is_found_outside_the_window() {
    let table = table();
    table.set(BASE, 16, BACKING, Rights::READ_WRITE);
    let outside = [0, BASE - 1, BASE + 16 * SMALL, u64::MAX];
    assert_eq!(outside.map(|address| table.lookup(address)), [None; 4]);
    assert!(table.lookup(BASE + 16 * SMALL - 1).is_some());
    assert_eq!((table.window_base(), table.window_bytes(), table.granule_bytes()), (BASE, 16 * SMALL, SMALL));
}

#[test]
#[should_panic(expected = "not whole granules")]
fn setting_past_the_window_is_a_bug() {
    table().set(BASE + 15 * SMALL, 2, BACKING, Rights::READ);
}

#[test]
#[should_panic(expected = "not whole granules")]
fn clearing_below_the_window_is_a_bug() {
    table().clear(BASE - SMALL, 1);
}

#[test]
#[should_panic(expected = "not whole granules")]
fn setting_a_part_of_a_granule_is_a_bug() {
    table().set(BASE + PAGE, 1, BACKING, Rights::READ);
}

#[test]
#[should_panic(expected = "beyond 2^40")]
fn backing_beyond_an_entry_is_a_bug() {
    table().set(BASE, 2, Backing { arena: 0, first_granule: (1 << 40) - 1 }, Rights::READ);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let new = |base, bytes, granule_bytes| Table::new(base, bytes, granule_bytes).unwrap_err();
    let size = |base, bytes| MemoryError::Size { part: Part::Table, base, bytes, granule_bytes: SMALL };
    assert_eq!(new(BASE, 0, SMALL), size(BASE, 0));
    assert_eq!(new(BASE, PAGE, SMALL), size(BASE, PAGE));
    assert_eq!(new(BASE + PAGE, SMALL, SMALL), size(BASE + PAGE, SMALL));
    assert_eq!(new(0, 1 << 63, SMALL), size(0, 1 << 63));
    assert_eq!(new(u64::MAX - SMALL + 1, SMALL, SMALL), size(u64::MAX - SMALL + 1, SMALL));
    assert_eq!(new(BASE, SMALL, 0), MemoryError::Granule { granule_bytes: 0 });
}

#[test]
fn a_table_of_the_whole_window_takes_only_what_is_written() {
    let table = Table::new(BASE, 16 << 40, LARGE).unwrap();
    table.set(BASE + (16 << 40) - LARGE, 1, BACKING, Rights::READ);
    assert_eq!(table.lookup(BASE + (16 << 40) - 1).unwrap().granule(), 1000);
    assert_eq!(table.lookup(BASE + (8 << 40)), None);
}
