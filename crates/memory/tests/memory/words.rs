use std::cell::RefCell;

use peermap_memory::{Backing, Difference, Rights, View};

use crate::setup::{BASE, PAGE, arena, budget, bytes, table};

const GRANULES: u64 = 8;

/// Runs `test` on eight granules, in an order that makes every granule a run of its own.
fn scattered(test: impl FnOnce(View<'_>)) {
    let arenas = [arena(0, GRANULES, PAGE, &budget(u64::MAX))];
    let table = table(GRANULES, 0, PAGE);
    for granule in 0..GRANULES {
        let backing = Backing { arena: 0, first_granule: GRANULES - 1 - granule };
        table.set(BASE + granule * PAGE, 1, backing, Rights::READ_WRITE);
    }
    test(View::new(&table, &arenas));
}

fn word(offset: u64) -> u64 {
    (offset + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).step_by(8).flat_map(|offset| word(offset).to_le_bytes()).take(len).collect()
}

/// Changes one byte.
fn flip(view: &View<'_>, address: u64) {
    let byte = bytes(view, address, 1)[0];
    view.write(address, &[!byte]).unwrap();
}

#[test]
fn a_pattern_is_written_from_any_start_to_any_end() {
    scattered(|view| {
        for (start, len) in [(0, 8), (3, 2), (5, 9000), (PAGE - 3, 6), (PAGE - 1, PAGE + 2), (1, 7 * PAGE + 4)] {
            view.fill(BASE, 0x55, GRANULES * PAGE).unwrap();
            view.fill_words(BASE + start, len, word).unwrap();
            assert_eq!(bytes(&view, BASE + start, len as usize), pattern(len as usize), "{start} {len}");
            assert_eq!(view.compare(BASE, start, 0x55).unwrap(), Difference::default());
            let rest = GRANULES * PAGE - start - len;
            assert_eq!(view.compare(BASE + start + len, rest, 0x55).unwrap(), Difference::default());
            assert_eq!(view.compare_words(BASE + start, len, word).unwrap(), Difference::default());
        }
    });
}

#[test]
fn a_pattern_is_asked_for_each_word_once_and_in_order() {
    scattered(|view| {
        let asked = RefCell::new(Vec::new());
        view.fill_words(BASE + 3, 3 * PAGE + 5, |offset| {
            asked.borrow_mut().push(offset);
            offset
        })
        .unwrap();
        assert_eq!(asked.into_inner(), (0..3 * PAGE + 5).step_by(8).collect::<Vec<_>>());
    });
}

#[test]
fn every_differing_byte_is_counted_and_the_first_is_named() {
    scattered(|view| {
        let (start, len) = (BASE + 3, 3 * PAGE);
        let wrong = [0, PAGE - 4, PAGE - 3, PAGE + 77, 3 * PAGE - 1];
        view.fill_words(start, len, word).unwrap();
        for (index, offset) in wrong.into_iter().enumerate().rev() {
            flip(&view, start + offset);
            let found = view.compare_words(start, len, word).unwrap();
            assert_eq!(found, Difference { bytes: (wrong.len() - index) as u64, first: Some(offset) });
        }
    });
}

#[test]
fn fresh_memory_differs_where_zero_was_not_expected() {
    scattered(|view| {
        view.fill(BASE + PAGE, 1, PAGE).unwrap();
        let found = view.compare(BASE + 5, 3 * PAGE, 0).unwrap();
        assert_eq!(found, Difference { bytes: PAGE, first: Some(PAGE - 5) });
        let found = view.compare(BASE + 5, 3 * PAGE, 1).unwrap();
        assert_eq!(found, Difference { bytes: 2 * PAGE, first: Some(0) });
    });
}
