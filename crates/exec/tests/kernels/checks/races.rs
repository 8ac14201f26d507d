use peermap_exec::{Check, Finding, Party};

use super::{BODY, Run};
use crate::rig::Rig;

fn on(rig: &Rig, shape: (u32, u32)) -> Run<'_> {
    Run { rig, check: Check::Races, shape, arguments: [rig.base, rig.base + 4096] }
}

fn race(body: &str, shape: (u32, u32)) -> (Party, u64, bool, Party) {
    let rig = Rig::new(1);
    let (stop, finding) = on(&rig, shape).finds(body);
    let Finding::Race { address, shared, other } = finding else { panic!("{finding}") };
    let address = if shared { address } else { address - rig.base };
    (Party { block: stop.block, thread: stop.thread, line: stop.line }, address, shared, other)
}

fn is_clean(body: &str, shape: (u32, u32)) {
    on(&Rig::new(1), shape).launch(body).unwrap();
}

#[test]
fn two_threads_of_a_block_that_write_one_byte_are_both_named() {
    let body = "setp.eq.u32 %p, %t, 3;\n@%p st.global.u32 [%a+16], %t;\nsetp.eq.u32 %p, %t, 40;\n@%p st.global.u8 [%a+18], %t;";
    let (second, address, shared, first) = race(body, (1, 64));
    assert_eq!((second.thread, second.line.ptx), ([40, 0, 0], BODY + 3));
    assert_eq!((first.thread, first.line.ptx), ([3, 0, 0], BODY + 1));
    assert_eq!((address, shared), (18, false));
}

#[test]
fn two_blocks_that_write_one_byte_are_both_named() {
    let (second, address, _, first) = race("st.global.u32 [%a], %b;", (2, 1));
    assert_eq!((first.block, second.block, address), ([0, 0, 0], [1, 0, 0], 0));
}

#[test]
fn overlapping_rows_race_where_they_overlap() {
    let (second, address, _, first) =
        race("mul.wide.u32 %w, %t, 3; add.u64 %w, %a, %w; st.global.u8 [%w], 1;\nst.global.u8 [%w+3], 2;", (1, 64));
    assert_eq!((first.thread, second.thread, address), ([1, 0, 0], [0, 0, 0], 3));
}

#[test]
fn threads_of_a_warp_may_store_the_same_in_one_instruction_and_nothing_else() {
    is_clean("st.global.u32 [%a], %b;", (1, 32));
    let (second, _, _, first) = race("st.global.u32 [%a], %t;", (1, 32));
    assert_eq!((first.thread, second.thread), ([0, 0, 0], [1, 0, 0]));
    let (second, _, _, first) = race("st.global.u32 [%a], %b;", (1, 64));
    assert_eq!((first.thread, second.thread), ([31, 0, 0], [32, 0, 0]));
}

#[test]
fn shared_memory_races_within_a_block_only() {
    let (second, _, shared, _) = race("st.shared.u32 [s+8], %t;", (3, 33));
    assert_eq!((second.block, shared), ([0, 0, 0], true));
    is_clean("setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [s+8], %b;", (3, 33));
}

#[test]
fn a_barrier_orders_the_threads_of_a_block_and_not_blocks() {
    let body = "setp.eq.u32 %p, %t, 0; @%p st.global.u32 [%at], 1; bar.sync 0;
setp.eq.u32 %p, %t, 40; @%p st.global.u32 [%a], 2;";
    is_clean(body, (1, 64));
    let (second, ..) = race(body, (2, 64));
    assert_eq!(second.block, [1, 0, 0]);
}

/// Halves of a block at barriers of their own.
#[test]
fn a_barrier_of_some_orders_those_and_lets_the_others_wait() {
    is_clean(
        "shr.u32 %x, %t, 5; add.u32 %y, %x, 1; mul.lo.u32 %z, %x, 512; cvt.u64.u32 %w, %z; add.u64 %w, %a, %w;
and.b32 %z, %t, 31; setp.eq.u32 %p, %z, 5; @%p st.global.u32 [%w], 1;
bar.sync %y, 32; setp.eq.u32 %p, %z, 6; @%p st.global.u32 [%w], 2;
bar.sync %y, 32; setp.eq.u32 %p, %z, 7; @%p st.global.u32 [%w], 3;",
        (1, 64),
    );
}

const TREE: &str = "st.shared.u32 [%s], %t; bar.sync 0; shr.u32 %y, %n, 1;
L: setp.ge.u32 %p, %t, %y; @%p bra NEXT;
shl.b32 %z, %y, 2; add.u32 %z, %s, %z; ld.shared.u32 %x, [%s]; ld.shared.u32 %z, [%z]; add.u32 %x, %x, %z;
st.shared.u32 [%s], %x;
NEXT: bar.sync 0; shr.u32 %y, %y, 1; setp.ne.u32 %q, %y, 0; @%q bra L;
setp.ne.u32 %p, %t, 0; @%p bra END; mul.wide.u32 %w, %b, 4; add.u64 %w, %c, %w; st.global.u32 [%w], %x;
END:";

#[test]
fn a_tree_of_sums_in_shared_memory_is_right() {
    let rig = Rig::new(1);
    on(&rig, (3, 256)).launch(TREE).unwrap();
    assert_eq!(rig.bytes(4096, 4), (255 * 128_u32).to_le_bytes());
}

#[test]
fn a_histogram_of_atomic_operations_is_right() {
    is_clean("and.b32 %x, %g, 7; mul.wide.u32 %w, %x, 4; add.u64 %w, %a, %w; red.global.add.u32 [%w], 1;", (8, 64));
    is_clean(
        "and.b32 %x, %g, 7; shl.b32 %x, %x, 2; mov.u32 %y, s; add.u32 %x, %x, %y; atom.shared.add.u32 %y, [%x], 1;",
        (8, 64),
    );
}

#[test]
fn sums_in_place_are_right() {
    is_clean(
        "ld.global.u32 %x, [%at]; ld.global.u32 %y, [%ct]; add.u32 %x, %x, %y; st.global.u32 [%at], %x;
ld.global.u32 %x, [%at]; add.u32 %x, %x, %y; st.global.u32 [%at], %x;",
        (4, 256),
    );
}

/// Every block waits for all others, and each time another one writes the word.
#[test]
fn a_barrier_of_the_grid_orders_blocks() {
    let barrier = "mov.u32 %z, 0;
NEXT: setp.eq.u32 %p, %b, %z; setp.eq.and.u32 %p, %t, 0, %p; @%p st.global.u32 [%c], %b;
bar.sync 0; setp.ne.u32 %p, %t, 0; @%p bra MEET; membar.gl; atom.global.add.u32 %x, [%a], 1;
add.u32 %y, %z, 1; mul.lo.u32 %y, %y, 10;
L: ld.volatile.global.u32 %x, [%a]; setp.lt.u32 %q, %x, %y; @%q bra L; membar.gl;
MEET: bar.sync 0; add.u32 %z, %z, 1; setp.lt.u32 %q, %z, 10; @%q bra NEXT;";
    is_clean(barrier, (10, 64));
}

#[test]
fn a_lock_orders_who_has_it() {
    let body = "setp.ne.u32 %p, %t, 0; @%p bra END;
L: atom.global.cas.b32 %x, [%a], 0, 1; setp.ne.u32 %p, %x, 0; @%p bra L; membar.gl;
ld.global.u32 %x, [%c]; add.u32 %x, %x, 1; st.global.u32 [%c], %x; membar.gl;
atom.global.exch.b32 %x, [%a], 0;
END:";
    let rig = Rig::new(1);
    on(&rig, (20, 32)).launch(body).unwrap();
    assert_eq!(rig.bytes(4096, 4), 20_u32.to_le_bytes());
}

#[test]
fn what_shuffles_and_warp_barriers_separate_is_ordered() {
    for between in ["bar.warp.sync -1;", "shfl.sync.idx.b32 %x, %t, 0, 31, -1;"] {
        let body = format!(
            "setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [s], %t; {between} setp.eq.u32 %p, %t, 1; @%p st.shared.u32 [s], %t;"
        );
        is_clean(&body, (1, 32));
    }
}

#[test]
fn stores_with_an_order_do_not_race() {
    is_clean("st.volatile.global.u32 [%a], %t; st.relaxed.gpu.global.u32 [%a+4], %t;", (3, 64));
}
