use std::os::fd::AsRawFd;
use std::sync::{Arc, Barrier};
use std::thread;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::unistd::ftruncate;
use peermap_memory::{Access, Arena, Budget, Content, FaultKind, HostMemory, MemoryError, Part, View};

use crate::setup::{
    BASE, LARGE, PAGE, SMALL, allocated, arena, budget, bytes, duplicate, duplicates, fault, reopened, table,
};

fn fresh_reads_are_zero_and_free(granule_bytes: u64) {
    let budget = budget(u64::MAX);
    let arenas = [arena(0, 8, granule_bytes, &budget)];
    let table = table(8, 8, granule_bytes);
    let view = View::new(&table, &arenas);
    let len = 8 * granule_bytes;
    assert!(bytes(&view, BASE, len as usize).iter().all(|byte| *byte == 0));
    assert_eq!(view.compare(BASE, len, 0).unwrap().bytes, 0);
    let spans: Vec<_> = view.spans(BASE, len, Access::Read).map(Result::unwrap).collect();
    assert_eq!(spans.iter().map(|span| (span.len as u64, span.content)).collect::<Vec<_>>(), [(len, Content::Zero)]);
    assert_eq!((allocated(&arenas[0]), budget.used()), (0, 0));
}

#[test]
fn fresh_reads_are_zero_and_free_with_granules_of_64_kib() {
    fresh_reads_are_zero_and_free(SMALL);
}

#[test]
fn fresh_reads_are_zero_and_free_with_granules_of_2_mib() {
    fresh_reads_are_zero_and_free(LARGE);
}

#[test]
fn a_device_of_150_gib_costs_nothing_until_written() {
    let budget = budget(LARGE);
    let arenas = [arena(0, 75 << 10, LARGE, &budget)];
    let table = table(75 << 10, 75 << 10, LARGE);
    let view = View::new(&table, &arenas);
    let last = BASE + (150 << 30) - 1;
    view.write(last, &[7]).unwrap();
    assert_eq!(bytes(&view, last - 1, 2), [0, 7]);
    assert_eq!(allocated(&arenas[0]), PAGE);
    assert_eq!(budget.used(), LARGE);
}

fn writes_charge_each_granule_once(granule_bytes: u64) {
    let budget = budget(u64::MAX);
    let arenas = [arena(0, 4, granule_bytes, &budget)];
    let table = table(4, 4, granule_bytes);
    let view = View::new(&table, &arenas);
    view.write(BASE + granule_bytes - 1, &[1, 2]).unwrap();
    view.fill(BASE, 9, 2 * granule_bytes).unwrap();
    view.atomic_update_u32(BASE + granule_bytes, |old| old.wrapping_add(1)).unwrap();
    assert_eq!(budget.used(), 2 * granule_bytes);
    view.copy_from(BASE + 3 * granule_bytes, &view, BASE, 1).unwrap();
    assert_eq!(budget.used(), 3 * granule_bytes);
}

#[test]
fn writes_charge_each_granule_of_64_kib_once() {
    writes_charge_each_granule_once(SMALL);
}

#[test]
fn writes_charge_each_granule_of_2_mib_once() {
    writes_charge_each_granule_once(LARGE);
}

/// The limit is exact, so that a single granule charged twice, even for a moment, makes a write fail.
#[test]
fn two_processes_that_write_at_once_charge_each_granule_once() {
    const GRANULES: u64 = 512;
    let budget = budget(GRANULES * PAGE);
    let here = arena(0, GRANULES, PAGE, &budget);
    let there = reopened(&here, &budget);
    let table = table(GRANULES, GRANULES, PAGE);
    let start = Barrier::new(4);
    for _ in 0..20 {
        thread::scope(|scope| {
            for (number, handle) in [&here, &there, &here, &there].into_iter().enumerate() {
                let (table, start) = (&table, &start);
                scope.spawn(move || {
                    let arenas = [handle.clone()];
                    let view = View::new(table, &arenas);
                    start.wait();
                    for granule in 0..GRANULES {
                        view.write(BASE + granule * PAGE + number as u64, &[number as u8 + 1]).unwrap();
                    }
                });
            }
        });
        assert_eq!(budget.used(), GRANULES * PAGE);
        let arenas = [there.clone()];
        let view = View::new(&table, &arenas);
        let intact = |granule: &u64| bytes(&view, BASE + granule * PAGE, 5) == [1, 2, 3, 4, 0];
        assert_eq!((0..GRANULES).filter(intact).count() as u64, GRANULES);
        here.discard(0, GRANULES * PAGE).unwrap();
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn a_refused_write_leaves_its_granule_fresh() {
    let budget = budget(2 * SMALL - 1);
    let arenas = [arena(0, 4, SMALL, &budget)];
    let table = table(4, 4, SMALL);
    let view = View::new(&table, &arenas);
    let refusal = FaultKind::HostMemory(HostMemory { needed: SMALL, used: SMALL, limit: 2 * SMALL - 1 });
    assert_eq!(view.fill(BASE, 5, 3 * SMALL), fault(BASE + SMALL, refusal));
    assert_eq!(view.write(BASE + SMALL + 9, &[1]), fault(BASE + SMALL + 9, refusal));
    assert_eq!(view.atomic_update_u64(BASE + SMALL + 16, |old| old.wrapping_add(1)), fault(BASE + SMALL + 16, refusal));
    // Done before the fault and still done; nothing after it.
    assert_eq!(view.compare(BASE, SMALL, 5).unwrap().bytes, 0);
    assert_eq!(view.compare(BASE + SMALL, 3 * SMALL, 0).unwrap().bytes, 0);
    assert_eq!((allocated(&arenas[0]), budget.used()), (SMALL, SMALL));
    let contents = view.spans(BASE + SMALL, 3 * SMALL, Access::Read).map(|span| span.unwrap().content);
    assert_eq!(contents.collect::<Vec<_>>(), [Content::Zero]);
    // With room in the budget the same write works.
    arenas[0].discard(0, SMALL).unwrap();
    assert_eq!(view.write(BASE + SMALL + 9, &[1]), Ok(()));
}

#[test]
fn discarded_memory_is_fresh_again() {
    let budget = budget(u64::MAX);
    let arenas = [arena(0, 8, SMALL, &budget)];
    let table = table(8, 8, SMALL);
    let view = View::new(&table, &arenas);
    view.fill(BASE, 3, 4 * SMALL).unwrap();
    arenas[0].discard(SMALL, 6 * SMALL).unwrap();
    assert_eq!((allocated(&arenas[0]), budget.used()), (2 * SMALL - SMALL, SMALL));
    assert_eq!(view.compare(BASE, SMALL, 3).unwrap().bytes, 0);
    assert_eq!(view.compare(BASE + SMALL, 7 * SMALL, 0).unwrap().bytes, 0);
    // The rest of a granule that is written again is zero, not what was there before.
    view.write(BASE + SMALL, &[1]).unwrap();
    assert_eq!(view.compare(BASE + SMALL + 1, SMALL - 1, 0).unwrap().bytes, 0);
    assert_eq!(budget.used(), 2 * SMALL);
}

#[test]
fn discarding_twice_credits_once() {
    let budget = budget(u64::MAX);
    let arenas = [arena(0, 2, SMALL, &budget)];
    let table = table(2, 2, SMALL);
    View::new(&table, &arenas).fill(BASE, 3, 2 * SMALL).unwrap();
    arenas[0].discard(0, SMALL).unwrap();
    arenas[0].discard(0, SMALL).unwrap();
    assert_eq!(budget.used(), SMALL);
}

#[test]
#[should_panic(expected = "not whole granules")]
fn discarding_a_part_of_a_granule_is_a_bug() {
    let _ = arena(0, 2, SMALL, &budget(0)).discard(PAGE, SMALL);
}

#[test]
#[should_panic(expected = "not whole granules")]
fn discarding_past_the_end_is_a_bug() {
    let _ = arena(0, 2, SMALL, &budget(0)).discard(SMALL, 2 * SMALL);
}

#[test]
fn another_process_sees_the_same_bytes_and_the_same_freshness() {
    let budget = budget(u64::MAX);
    let here = [arena(3, 2, SMALL, &budget)];
    let there = [reopened(&here[0], &budget)];
    let table = table(2, 2, SMALL);
    View::new(&table, &here).write(BASE + 5, b"hello").unwrap();
    let other = View::new(&table, &there);
    assert_eq!(bytes(&other, BASE + 5, 5), b"hello");
    there[0].discard(0, SMALL).unwrap();
    assert_eq!(bytes(&View::new(&table, &here), BASE + 5, 5), [0; 5]);
    assert_eq!((there[0].index(), there[0].bytes(), budget.used()), (3, 2 * SMALL, 0));
}

#[test]
fn descriptors_are_named_closed_on_exec_and_fixed_in_size() {
    let arena = arena(7, 2, SMALL, &budget(0));
    let names = arena.descriptors().map(|descriptor| {
        let flags = fcntl(descriptor, FcntlArg::F_GETFD).unwrap();
        assert!(FdFlag::from_bits_retain(flags).contains(FdFlag::FD_CLOEXEC));
        assert!(ftruncate(descriptor, 0).is_err());
        let link = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
        std::fs::read_link(link).unwrap().to_string_lossy().into_owned()
    });
    assert!(names[0].contains("memfd:peermap-arena-7"), "{names:?}");
    assert!(names[1].contains("memfd:peermap-written-7"), "{names:?}");
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let create = |bytes, granule_bytes| Arena::create(0, bytes, granule_bytes, budget(0)).unwrap_err();
    let part = Part::Bytes;
    assert_eq!(create(PAGE, 2048), MemoryError::Granule { granule_bytes: 2048 });
    assert_eq!(create(3 * PAGE, 3 * PAGE), MemoryError::Granule { granule_bytes: 3 * PAGE });
    assert_eq!(create(0, PAGE), MemoryError::Size { part, base: 0, bytes: 0, granule_bytes: PAGE });
    assert_eq!(create(PAGE, SMALL), MemoryError::Size { part, base: 0, bytes: PAGE, granule_bytes: SMALL });
}

#[test]
fn exchanged_descriptors_are_refused() {
    let budget = budget(0);
    let arena = arena(0, 8, SMALL, &budget);
    let [file, written] = duplicates(&arena);
    let other = Arc::new(Budget::from_fd(duplicate(&budget)).unwrap());
    let opened = Arena::from_fds(0, [written, file], PAGE, other.clone()).unwrap_err();
    assert_eq!(opened, MemoryError::Size { part: Part::Bytes, base: 0, bytes: 8, granule_bytes: PAGE });
    let opened = Arena::from_fds(0, duplicates(&arena), PAGE, other).unwrap_err();
    assert_eq!(opened, MemoryError::WrongSize { part: Part::Written, bytes: 8, expected: 128 });
}
