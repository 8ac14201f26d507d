//! Multicast addresses: what stands for memory of several devices.

use std::sync::Arc;

use peermap_memory::{Access, Arena, Backing, FaultKind, MemoryError, Part, Rights, Switches, Table, View, Wire};

use crate::setup::{BASE, SMALL, arena, budget, bytes, fault};

/// Two arenas, of which a table has the granules 0 to 3 each, and behind those two granules of a team of both: it stands for
/// granules 2 and 3 of the first arena and for granules 0 and 1 of the second.
fn team(second: Wire) -> ([Arc<Arena>; 2], Table, Switches) {
    let budget = budget(u64::MAX);
    let arenas = [arena(0, 4, SMALL, &budget), arena(1, 4, SMALL, &budget)];
    let table = Table::new(BASE, 16 * SMALL, SMALL).unwrap();
    table.set(BASE, 4, Backing { arena: 0, first_granule: 0 }, Rights::READ_WRITE);
    table.set(BASE + 4 * SMALL, 4, Backing { arena: 1, first_granule: 0 }, Rights::READ_WRITE);
    table.set(TEAM, 2, Backing { arena: Backing::TEAMS, first_granule: 5 }, Rights::READ_WRITE);
    let switches = Switches::create(8 * SMALL, SMALL, 3).unwrap();
    switches.wire(5, 2, 0, Wire::Memory(Backing { arena: 0, first_granule: 2 }));
    switches.wire(5, 2, 2, second);
    (arenas, table, switches)
}

const TEAM: u64 = BASE + 8 * SMALL;
const FIRST: u64 = BASE + 2 * SMALL;
const SECOND: u64 = BASE + 4 * SMALL;
const BOUND: Wire = Wire::Memory(Backing { arena: 1, first_granule: 0 });

#[test]
fn what_is_written_by_a_multicast_address_is_in_every_copy() {
    let (arenas, table, switches) = team(BOUND);
    let view = View::new(&table, &arenas).with_switches(&switches);
    view.fill(TEAM, 7, 2 * SMALL).unwrap();
    // Across the border of two granules, and not at a multiple of a word.
    view.write(TEAM + SMALL - 3, b"border").unwrap();
    view.fill_words(TEAM + 5, 20, |offset| 0x1111_1111_1111_1111 * (offset / 8 + 1)).unwrap();
    view.write(BASE, b"source").unwrap();
    view.copy_from(TEAM + 100, &view, BASE, 6).unwrap();
    let mut expected = vec![7; 2 * SMALL as usize];
    expected[SMALL as usize - 3..][..6].copy_from_slice(b"border");
    expected[5..25].copy_from_slice(&[[0x11; 8].as_slice(), &[0x22; 8], &[0x33; 4]].concat());
    expected[100..106].copy_from_slice(b"source");
    assert_eq!(bytes(&view, FIRST, 2 * SMALL as usize), expected);
    assert_eq!(bytes(&view, SECOND, 2 * SMALL as usize), expected);
    assert_eq!(view.compare(SECOND + 2 * SMALL, 2 * SMALL, 0).unwrap().bytes, 0, "what is not bound is not written");
}

#[test]
fn a_multicast_address_is_read_by_its_copies_only() {
    let (arenas, table, switches) = team(BOUND);
    let view = View::new(&table, &arenas).with_switches(&switches);
    view.write(FIRST + SMALL, &[1]).unwrap();
    view.write(SECOND + SMALL, &[2]).unwrap();
    let each: Vec<_> = view.copies(TEAM + SMALL).map(|copy| bytes(&copy, TEAM + SMALL, 1)[0]).collect();
    assert_eq!(each, [1, 2]);
    let refused = fault(TEAM + SMALL, FaultKind::Multicast);
    assert_eq!(view.read(TEAM + SMALL, &mut [0]), refused);
    assert_eq!(view.check(TEAM + SMALL, 1, Access::Read), refused);
    assert_eq!(view.atomic_update_u32(TEAM + SMALL, |_| 0).map(drop), refused);
    assert_eq!(view.place(TEAM), None);
    assert_eq!(
        view.copies(TEAM).map(|copy| copy.place(TEAM + 9)).collect::<Vec<_>>(),
        [Some((0, 2 * SMALL + 9)), Some((1, 9))]
    );
    assert_eq!(view.copies(FIRST).count(), 0);
}

#[test]
fn rights_are_those_of_the_multicast_address() {
    let (arenas, table, switches) = team(BOUND);
    table.set(TEAM, 2, Backing { arena: Backing::TEAMS, first_granule: 5 }, Rights::READ);
    let view = View::new(&table, &arenas).with_switches(&switches);
    assert_eq!(view.fill(TEAM, 1, 4), fault(TEAM, FaultKind::NoWriteAccess));
    assert!(view.copies(TEAM).all(|copy| copy.check(TEAM, 4, Access::Read).is_ok()));
}

#[test]
fn a_device_without_memory_is_named() {
    let (arenas, table, switches) = team(Wire::Unbound);
    let view = View::new(&table, &arenas).with_switches(&switches);
    assert_eq!(view.fill(TEAM, 1, 4), fault(TEAM, FaultKind::Unbound { device: 2 }));
    switches.wire(5, 2, 2, Wire::Nothing);
    assert_eq!(view.fill(TEAM, 1, 4), Ok(()));
}

#[test]
fn what_one_process_binds_another_reaches() {
    let (arenas, table, ours) = team(Wire::Unbound);
    let file = ours.descriptor().try_clone_to_owned().unwrap();
    let theirs = Switches::from_fd(file, 8 * SMALL, SMALL, 3).unwrap();
    ours.wire(5, 2, 2, BOUND);
    let view = View::new(&table, &arenas).with_switches(&theirs);
    view.write(TEAM, b"x").unwrap();
    assert_eq!(bytes(&view, SECOND, 1), b"x");
}

#[test]
fn a_file_of_another_size_is_refused() {
    let (_, _, switches) = team(BOUND);
    let file = switches.descriptor().try_clone_to_owned().unwrap();
    let error = Switches::from_fd(file, 8 * SMALL, SMALL, 4).unwrap_err();
    assert_eq!(error, MemoryError::WrongSize { part: Part::Switches, bytes: 8 * 3 * 8, expected: 8 * 4 * 8 });
}
