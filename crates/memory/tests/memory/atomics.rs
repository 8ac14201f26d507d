use std::thread;

use peermap_memory::{FaultKind, View};

use crate::setup::{BASE, SMALL, arena, budget, bytes, fault, reopened, table};

const ROUNDS: u64 = 5000;

#[test]
fn an_atomic_operation_answers_with_the_number_before() {
    let arenas = [arena(0, 1, SMALL, &budget(SMALL))];
    let table = table(1, 1, SMALL);
    let view = View::new(&table, &arenas);
    assert_eq!(view.atomic_update_u32(BASE + 4, |old| old.wrapping_add(5)), Ok(0));
    assert_eq!(view.atomic_update_u32(BASE + 4, |old| old.wrapping_add(u32::MAX)), Ok(5));
    assert_eq!(view.atomic_update_u64(BASE + 8, |old| old.wrapping_add(u64::MAX)), Ok(0));
    assert_eq!(view.atomic_update_u64(BASE + 8, |old| old.min(9)), Ok(u64::MAX));
    assert_eq!(view.atomic_update_u64(BASE + 8, |old| old.min(10)), Ok(9));
    assert_eq!(bytes(&view, BASE, 17), [0, 0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_misaligned_number_faults_before_anything_else() {
    let arenas = [arena(0, 1, SMALL, &budget(0))];
    let table = table(1, 0, SMALL);
    let view = View::new(&table, &arenas);
    let misaligned = |bytes| FaultKind::Misaligned { bytes };
    assert_eq!(view.atomic_update_u32(BASE + 2, |old| old.wrapping_add(1)), fault(BASE + 2, misaligned(4)));
    assert_eq!(view.atomic_update_u64(BASE + 4, |old| old.wrapping_add(1)), fault(BASE + 4, misaligned(8)));
    assert_eq!(view.atomic_update_u64(BASE + 9, |old| old.min(1)), fault(BASE + 9, misaligned(8)));
    assert_eq!(view.atomic_update_u32(BASE + 4, |old| old.wrapping_add(1)), fault(BASE + 4, FaultKind::NotMapped));
}

#[test]
fn no_addition_of_many_threads_and_two_processes_is_lost() {
    let budget = budget(SMALL);
    let here = arena(0, 1, SMALL, &budget);
    let there = reopened(&here, &budget);
    let table = table(1, 1, SMALL);
    thread::scope(|scope| {
        for handle in [&here, &there, &here, &there] {
            let table = &table;
            scope.spawn(move || {
                let arenas = [handle.clone()];
                let view = View::new(table, &arenas);
                for _ in 0..ROUNDS {
                    view.atomic_update_u32(BASE, |old| old.wrapping_add(1)).unwrap();
                    view.atomic_update_u64(BASE + 8, |old| old.wrapping_add(1 << 32)).unwrap();
                }
            });
        }
    });
    let arenas = [here];
    let view = View::new(&table, &arenas);
    assert_eq!(view.atomic_update_u32(BASE, |old| old.wrapping_add(0)), Ok(4 * ROUNDS as u32));
    assert_eq!(view.atomic_update_u64(BASE + 8, |old| old.wrapping_add(0)), Ok((4 * ROUNDS) << 32));
}

#[test]
fn the_least_number_of_many_threads_remains() {
    let arenas = [arena(0, 1, SMALL, &budget(SMALL))];
    let table = table(1, 1, SMALL);
    let view = View::new(&table, &arenas);
    view.fill(BASE, 0xFF, 8).unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let numbers = (0..ROUNDS).rev().map(|round| 100 + 4 * round + thread);
                numbers.for_each(|number| assert!(view.atomic_update_u64(BASE, |old| old.min(number)).unwrap() >= 100));
            });
        }
    });
    assert_eq!(view.atomic_update_u64(BASE, |old| old), Ok(100));
}
