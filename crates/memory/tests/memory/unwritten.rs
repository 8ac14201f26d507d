use std::sync::Arc;

use peermap_memory::{Arena, Backing, Budget, Rights, View};

use crate::setup::{BASE, SMALL, arena, budget, duplicate, duplicates, table};

fn marked(granules: u64, budget: &Arc<Budget>) -> Arc<Arena> {
    let arena = Arena::create(0, granules * SMALL, SMALL, Arc::clone(budget)).unwrap();
    Arc::new(arena.marked().unwrap())
}

#[test]
fn every_way_to_write_marks_exactly_what_it_writes() {
    let arenas = [marked(4, &budget(u64::MAX))];
    let table = table(4, 4, SMALL);
    let view = View::new(&table, &arenas);
    view.write(BASE + 3, &[0; 5]).unwrap();
    view.fill(BASE + 8, 0, 8).unwrap();
    view.fill_words(BASE + 16, 3, |_| 0).unwrap();
    view.atomic_update_u32(BASE + 20, |old| old).unwrap();
    view.atomic_update_u64(BASE + 24, |old| old).unwrap();
    assert_eq!(view.first_unwritten(BASE, 32), Some(BASE));
    assert_eq!(view.first_unwritten(BASE + 3, 29), Some(BASE + 19));
    assert_eq!(view.first_unwritten(BASE + 20, 12), None);
    assert_eq!(view.first_unwritten(BASE + 20, 13), Some(BASE + 32));
    view.fill(BASE + SMALL - 1, 1, SMALL + 2).unwrap();
    assert_eq!(view.first_unwritten(BASE + SMALL - 1, 2 * SMALL), Some(BASE + 2 * SMALL + 1));
}

#[test]
fn copies_of_unwritten_bytes_are_unwritten() {
    let arenas = [marked(8, &budget(u64::MAX))];
    let table = table(8, 8, SMALL);
    let view = View::new(&table, &arenas);
    view.fill(BASE + 10, 1, 20).unwrap();
    let (target, len) = (BASE + 4 * SMALL + 5, 2 * SMALL);
    view.fill(target, 9, len).unwrap();
    view.copy_from(target, &view, BASE, len).unwrap();
    assert_eq!(view.first_unwritten(target, len), Some(target));
    assert_eq!(view.first_unwritten(target + 10, len), Some(target + 30));
    assert_eq!(view.first_unwritten(target - 1 + len, 1), Some(target - 1 + len));
    view.copy_from(BASE, &view, target + 10, 20).unwrap();
    assert_eq!(view.first_unwritten(BASE, 40), Some(BASE + 30));
}

#[test]
fn other_addresses_and_other_processes_see_what_was_written() {
    let limits = budget(u64::MAX);
    let ours = [marked(4, &limits)];
    let table = table(4, 2, SMALL);
    table.set(BASE + 3 * SMALL, 1, Backing { arena: 0, first_granule: 1 }, Rights::READ);
    let opened = Budget::from_fd(duplicate(&limits)).unwrap();
    let theirs = Arena::from_fds(0, duplicates(&ours[0]), SMALL, Arc::new(opened)).unwrap();
    let record = ours[0].marks().unwrap().try_clone_to_owned().unwrap();
    let theirs = [Arc::new(theirs.marked_as(record).unwrap())];
    View::new(&table, &theirs).write(BASE + SMALL + 7, &[1]).unwrap();
    let view = View::new(&table, &ours);
    assert_eq!(view.first_unwritten(BASE + SMALL + 7, 2), Some(BASE + SMALL + 8));
    assert_eq!(view.first_unwritten(BASE + 3 * SMALL + 7, 1), None);
    assert_eq!(view.first_unwritten(BASE + 2 * SMALL, 1), None, "what is not mapped is not looked at");
}

#[test]
fn freed_memory_is_unwritten_again_and_the_record_is_charged() {
    let limits = budget(u64::MAX);
    let arenas = [marked(4, &limits)];
    let table = table(4, 4, SMALL);
    let view = View::new(&table, &arenas);
    view.fill(BASE, 1, 2 * SMALL).unwrap();
    assert_eq!(limits.used(), 2 * (SMALL + SMALL / 8));
    arenas[0].discard(0, SMALL).unwrap();
    assert_eq!(limits.used(), SMALL + SMALL / 8);
    view.write(BASE + 1, &[1]).unwrap();
    assert_eq!(view.first_unwritten(BASE, 2 * SMALL), Some(BASE));
    assert_eq!(view.first_unwritten(BASE + 1, 2 * SMALL), Some(BASE + 2));
}

#[test]
fn without_a_record_everything_counts_as_written() {
    let arenas = [arena(0, 4, SMALL, &budget(u64::MAX))];
    let table = table(4, 4, SMALL);
    assert_eq!(View::new(&table, &arenas).first_unwritten(BASE, SMALL), None);
    assert!(arenas[0].marks().is_none());
}
