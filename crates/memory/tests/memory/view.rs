use std::sync::Arc;

use peermap_memory::{Access, Arena, Backing, Content, FaultKind, Rights, Table, View};

use crate::setup::{BASE, LARGE, PAGE, SMALL, arena, budget, bytes, fault, table};

const WINDOW: u64 = 16;

fn arenas(granule_bytes: u64) -> [Arc<Arena>; 2] {
    let budget = budget(u64::MAX);
    [arena(0, WINDOW, granule_bytes, &budget), arena(1, WINDOW, granule_bytes, &budget)]
}

/// Offset and length of each span, in granules.
fn runs(view: &View<'_>, granules: u64, access: Access, granule_bytes: u64) -> Vec<(u64, u64)> {
    let spans = view.spans(BASE, granules * granule_bytes, access).map(Result::unwrap);
    spans.map(|span| (span.offset / granule_bytes, span.len as u64 / granule_bytes)).collect()
}

#[test]
fn aliases_of_the_same_memory_see_each_other() {
    let arenas = arenas(SMALL);
    let (one, two) = (table(WINDOW, 4, SMALL), table(WINDOW, 0, SMALL));
    two.set(BASE + 9 * SMALL, 1, Backing { arena: 0, first_granule: 3 }, Rights::READ_WRITE);
    one.set(BASE + 5 * SMALL, 1, Backing { arena: 0, first_granule: 3 }, Rights::READ);
    let (one, two) = (View::new(&one, &arenas), View::new(&two, &arenas));
    two.write(BASE + 9 * SMALL + 17, b"alias").unwrap();
    assert_eq!(bytes(&one, BASE + 3 * SMALL + 17, 5), b"alias");
    assert_eq!(bytes(&one, BASE + 5 * SMALL + 17, 5), b"alias");
    one.write(BASE + 3 * SMALL + 17, b"A").unwrap();
    assert_eq!(bytes(&two, BASE + 9 * SMALL + 16, 3), b"\0Al");
}

#[test]
fn an_access_faults_at_the_first_byte_of_a_hole() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, 8, SMALL);
    table.clear(BASE + 3 * SMALL, 1);
    let view = View::new(&table, &arenas);
    let (start, hole) = (BASE + 2 * SMALL - 1, BASE + 3 * SMALL);
    assert_eq!(view.check(start, SMALL + 1, Access::ReadWrite), Ok(()));
    assert_eq!(view.check(start, SMALL + 2, Access::Read), fault(hole, FaultKind::NotMapped));
    assert_eq!(view.fill(start, 1, 3 * SMALL), fault(hole, FaultKind::NotMapped));
    assert_eq!(view.write(start, &[2; SMALL as usize + 2]), fault(hole, FaultKind::NotMapped));
    assert_eq!(view.read(start, &mut [0; SMALL as usize + 2]), fault(hole, FaultKind::NotMapped));
    assert_eq!(view.compare(start, 3 * SMALL, 2), fault(hole, FaultKind::NotMapped));
    assert_eq!(view.fill_words(start, 3 * SMALL, |_| 0), fault(hole, FaultKind::NotMapped));
    assert_eq!(view.write(hole + 5, &[0]), fault(hole + 5, FaultKind::NotMapped));
    assert_eq!(view.check(hole, 2 * SMALL, Access::Read), fault(hole, FaultKind::NotMapped));
}

#[test]
fn bytes_before_a_fault_are_written_and_none_after_it() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, 4, SMALL);
    table.clear(BASE + SMALL, 1);
    let view = View::new(&table, &arenas);
    assert!(view.fill(BASE, 6, 4 * SMALL).is_err());
    assert_eq!(view.compare(BASE, SMALL, 6).unwrap().bytes, 0);
    assert_eq!(view.compare(BASE + 2 * SMALL, 2 * SMALL, 0).unwrap().bytes, 0);
}

#[test]
fn an_access_past_the_window_faults_at_its_end() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, WINDOW, SMALL);
    let view = View::new(&table, &arenas);
    let end = BASE + WINDOW * SMALL;
    assert_eq!(view.check(end - 3, 3, Access::Write), Ok(()));
    assert_eq!(view.write(end - 3, &[1; 4]), fault(end, FaultKind::NotMapped));
    assert_eq!(bytes(&view, end - 4, 4), [0, 1, 1, 1]);
    assert_eq!(view.fill(end - 3, 1, u64::MAX), fault(end, FaultKind::NotMapped));
    assert_eq!(view.check(u64::MAX, 2, Access::Read), fault(u64::MAX, FaultKind::NotMapped));
    assert_eq!(view.check(BASE - 1, 2, Access::Read), fault(BASE - 1, FaultKind::NotMapped));
    assert_eq!(view.fill(0, 1, 1), fault(0, FaultKind::NotMapped));
}

#[test]
fn nothing_is_accessed_by_an_access_of_no_bytes() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, 0, SMALL);
    let view = View::new(&table, &arenas);
    assert_eq!(view.check(7, 0, Access::ReadWrite), Ok(()));
    assert_eq!(view.read(7, &mut []), Ok(()));
    assert_eq!(view.write(7, &[]), Ok(()));
    assert_eq!(view.fill(u64::MAX, 1, 0), Ok(()));
    assert_eq!(view.copy_from(7, &view, 8, 0), Ok(()));
}

#[test]
fn rights_are_checked_granule_by_granule() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, 1, SMALL);
    let set = |granule: u64, rights| {
        table.set(BASE + granule * SMALL, 1, Backing { arena: 0, first_granule: granule }, rights);
    };
    set(1, Rights::READ);
    set(2, Rights { read: false, write: true });
    set(3, Rights::NONE);
    let view = View::new(&table, &arenas);
    let at = |granule: u64| BASE + granule * SMALL;
    assert_eq!(view.fill(BASE, 1, 4 * SMALL), fault(at(1), FaultKind::NoWriteAccess));
    assert_eq!(view.compare(BASE + 1, 4 * SMALL, 1), fault(at(2), FaultKind::NoReadAccess));
    assert_eq!(view.fill(at(2), 1, 2 * SMALL), fault(at(3), FaultKind::NoWriteAccess));
    assert_eq!(view.read(at(3) + 1, &mut [0]), fault(at(3) + 1, FaultKind::NoReadAccess));
    assert_eq!(view.atomic_update_u32(at(1), |old| old.wrapping_add(1)), fault(at(1), FaultKind::NoWriteAccess));
    assert_eq!(view.atomic_update_u32(at(2), |old| old.wrapping_add(1)), fault(at(2), FaultKind::NoReadAccess));
    assert_eq!(view.check(at(4), 1, Access::Read), fault(at(4), FaultKind::NotMapped));
}

#[test]
fn a_check_touches_nothing() {
    let budget = budget(0);
    let arenas = [arena(0, WINDOW, SMALL, &budget)];
    let table = table(WINDOW, WINDOW, SMALL);
    let view = View::new(&table, &arenas);
    assert_eq!(view.check(BASE, WINDOW * SMALL, Access::ReadWrite), Ok(()));
    let content = view.spans(BASE, WINDOW * SMALL, Access::Read).next().unwrap().unwrap().content;
    assert_eq!(content, Content::Zero);
}

fn neighbours_in_the_arena_give_one_span(granule_bytes: u64) {
    let arenas = arenas(granule_bytes);
    let table = table(WINDOW, 8, granule_bytes);
    // The arena's order breaks at granules 3 and 4, and the arena changes at granule 6.
    table.set(BASE + 3 * granule_bytes, 1, Backing { arena: 0, first_granule: 11 }, Rights::READ_WRITE);
    table.set(BASE + 6 * granule_bytes, 2, Backing { arena: 1, first_granule: 6 }, Rights::READ_WRITE);
    let view = View::new(&table, &arenas);
    let expected = [(0, 3), (3, 1), (4, 2), (6, 2)];
    assert_eq!(runs(&view, 8, Access::Write, granule_bytes), expected);
    assert_eq!(runs(&view, 8, Access::Read, granule_bytes), expected);
}

#[test]
fn neighbours_in_the_arena_give_one_span_with_granules_of_64_kib() {
    neighbours_in_the_arena_give_one_span(SMALL);
}

#[test]
fn neighbours_in_the_arena_give_one_span_with_granules_of_2_mib() {
    neighbours_in_the_arena_give_one_span(LARGE);
}

#[test]
fn a_span_starts_and_ends_with_its_request() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, 4, SMALL);
    let view = View::new(&table, &arenas);
    let spans: Vec<_> = view.spans(BASE + 100, 2 * SMALL, Access::Write).map(Result::unwrap).collect();
    assert_eq!(spans.iter().map(|span| (span.offset, span.len as u64)).collect::<Vec<_>>(), [(0, 2 * SMALL)]);
}

#[test]
fn fresh_and_written_granules_are_different_spans_for_reads() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, 6, SMALL);
    let view = View::new(&table, &arenas);
    view.fill(BASE + 2 * SMALL, 1, 2 * SMALL).unwrap();
    let spans = view.spans(BASE, 6 * SMALL, Access::Read).map(Result::unwrap);
    let zeros: Vec<_> = spans.map(|span| (span.offset / SMALL, span.content == Content::Zero)).collect();
    assert_eq!(zeros, [(0, true), (2, false), (4, true)]);
}

#[test]
fn spans_end_with_their_first_fault() {
    let arenas = arenas(SMALL);
    let table = table(WINDOW, 2, SMALL);
    table.set(BASE + 3 * SMALL, 1, Backing { arena: 0, first_granule: 3 }, Rights::READ_WRITE);
    let view = View::new(&table, &arenas);
    let outcomes: Vec<_> = view.spans(BASE, 4 * SMALL, Access::Read).map(|span| span.map(|span| span.len)).collect();
    assert_eq!(outcomes, [Ok(2 * SMALL as usize), fault(BASE + 2 * SMALL, FaultKind::NotMapped)]);
}

#[test]
fn copies_go_between_views_and_across_spans() {
    let arenas = arenas(SMALL);
    let (from, to) = (table(WINDOW, 3, SMALL), table(WINDOW, 0, SMALL));
    to.set(BASE, 2, Backing { arena: 1, first_granule: 5 }, Rights::READ_WRITE);
    to.set(BASE + 2 * SMALL, 2, Backing { arena: 1, first_granule: 9 }, Rights::READ_WRITE);
    let (from, to) = (View::new(&from, &arenas), View::new(&to, &arenas));
    to.fill(BASE, 0xAA, 4 * SMALL).unwrap();
    from.fill_words(BASE, SMALL, |offset| offset).unwrap();
    from.fill(BASE + 2 * SMALL, 7, SMALL).unwrap();
    to.copy_from(BASE + 8, &from, BASE, 3 * SMALL).unwrap();
    assert_eq!(bytes(&to, BASE, 8), [0xAA; 8]);
    assert_eq!(to.compare_words(BASE + 8, SMALL, |offset| offset).unwrap().bytes, 0);
    assert_eq!(to.compare(BASE + 8 + SMALL, SMALL, 0).unwrap().bytes, 0);
    assert_eq!(to.compare(BASE + 8 + 2 * SMALL, SMALL, 7).unwrap().bytes, 0);
    assert_eq!(to.compare(BASE + 8 + 3 * SMALL, SMALL - 8, 0xAA).unwrap().bytes, 0);
}

fn moved(distance_from: u64, distance_to: u64, len: u64) -> bool {
    let arenas = arenas(PAGE);
    let table = table(WINDOW, 4, PAGE);
    // The same memory at a second address, so that the addresses do not show the overlap.
    table.set(BASE + 8 * PAGE, 4, Backing { arena: 0, first_granule: 0 }, Rights::READ_WRITE);
    let view = View::new(&table, &arenas);
    let pattern: Vec<u8> = (0..4 * PAGE).map(|index| (index % 251) as u8).collect();
    view.write(BASE, &pattern).unwrap();
    let mut expected = pattern;
    expected.copy_within(distance_from as usize..(distance_from + len) as usize, distance_to as usize);
    view.copy_from(BASE + 8 * PAGE + distance_to, &view, BASE + distance_from, len).unwrap();
    bytes(&view, BASE, expected.len()) == expected
}

#[test]
fn an_overlapping_copy_within_a_run_is_a_memmove_in_both_directions() {
    assert!(moved(0, 100, 3 * PAGE));
    assert!(moved(100, 0, 3 * PAGE));
    assert!(moved(50, 50, 3 * PAGE));
}

#[test]
fn a_copy_names_the_first_fault_of_either_side() {
    let arenas = arenas(SMALL);
    let (from, to) = (table(WINDOW, 2, SMALL), table(WINDOW, 3, SMALL));
    let (from, to) = (View::new(&from, &arenas), View::new(&to, &arenas));
    let not_mapped = |address| fault(address, FaultKind::NotMapped);
    assert_eq!(to.copy_from(BASE, &from, BASE, 3 * SMALL), not_mapped(BASE + 2 * SMALL));
    assert_eq!(to.copy_from(BASE + 2 * SMALL + 5, &from, BASE, 2 * SMALL), not_mapped(BASE + 3 * SMALL));
    // Both fault at the same distance: the source's address it is.
    assert_eq!(to.copy_from(BASE + 2 * SMALL, &from, BASE + SMALL, 2 * SMALL), not_mapped(BASE + 2 * SMALL));
}

#[test]
fn a_copy_charges_nothing_behind_a_fault_of_its_source() {
    let budget = budget(u64::MAX);
    let arenas = [arena(0, WINDOW, SMALL, &budget)];
    let table = table(WINDOW, WINDOW, SMALL);
    table.clear(BASE + SMALL, 1);
    let view = View::new(&table, &arenas);
    assert!(view.copy_from(BASE + 8 * SMALL, &view, BASE, 4 * SMALL).is_err());
    assert_eq!(budget.used(), SMALL);
}

#[test]
#[should_panic(expected = "different granules")]
fn a_view_of_different_granules_is_a_bug() {
    View::new(&table(1, 1, LARGE), &arenas(SMALL));
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn a_granule_that_the_arena_lacks_is_a_bug() {
    let table = Table::new(BASE, SMALL, SMALL).unwrap();
    table.set(BASE, 1, Backing { arena: 0, first_granule: WINDOW }, Rights::READ_WRITE);
    let _ = View::new(&table, &arenas(SMALL)).fill(BASE, 1, 1);
}
