use peermap_exec::{Check, Finding};
use peermap_memory::Access;

use super::{BODY, Run};
use crate::rig::{GRANULE, Rig};

const BUFFER: u64 = 2 * GRANULE;

/// Four buffers; the arguments are in the second and in the third.
fn on(rig: &Rig, shape: (u32, u32)) -> Run<'_> {
    Run { rig, check: Check::Bounds, shape, arguments: [rig.base + BUFFER, rig.base + 2 * BUFFER + 64] }
}

fn rig() -> Rig {
    Rig::new(8)
}

#[test]
fn a_store_behind_the_buffer_that_hits_its_neighbour_names_both() {
    let rig = rig();
    let run = Run { arguments: [rig.base + 2 * BUFFER - 40, rig.base], ..on(&rig, (1, 64)) };
    let (stop, finding) = run.finds("add.u32 %x, %x, 1;\nst.global.u32 [%at], %x;");
    let expected = Finding::OutOfBounds {
        address: rig.base + 2 * BUFFER,
        access: Access::Write,
        argument: 0,
        pointer: rig.base + 2 * BUFFER - 40,
        buffer: rig.base + BUFFER..rig.base + 2 * BUFFER,
        hit: Some(rig.base + 2 * BUFFER..rig.base + 3 * BUFFER),
    };
    assert_eq!((stop.thread, stop.line.ptx, finding), ([10, 0, 0], BODY + 1, expected));
    assert_eq!(rig.bytes(2 * BUFFER, 4), [0; 4], "nothing of the neighbour is written");
}

#[test]
fn a_pointer_that_walks_is_followed() {
    let rig = rig();
    let body = "mov.u64 %w, %c;
L: ld.global.u32 %y, [%w]; add.u64 %w, %w, 4096; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 40; @%p bra L;";
    let (_, finding) = on(&rig, (1, 1)).finds(body);
    let Finding::OutOfBounds { address, argument, .. } = finding else { panic!("{finding}") };
    assert_eq!((address, argument), (rig.base + 3 * BUFFER + 64, 1));
    on(&rig, (1, 1)).launch(&body.replace("40", "32")).unwrap();
}

#[test]
fn an_index_from_memory_is_followed_too() {
    let rig = rig();
    rig.view().write(rig.base + BUFFER, &(BUFFER as u32).to_le_bytes()).unwrap();
    let body = "ld.global.u32 %x, [%a]; mul.wide.u32 %w, %x, 1; add.u64 %w, %a, %w; red.global.add.u32 [%w], 1;";
    let (_, finding) = on(&rig, (1, 1)).finds(body);
    let Finding::OutOfBounds { address, access, .. } = finding else { panic!("{finding}") };
    assert_eq!((address, access), (rig.base + 2 * BUFFER, Access::ReadWrite));
}

#[test]
fn in_front_of_the_buffer_counts_unless_the_pointer_may_be_an_end() {
    let rig = rig();
    on(&rig, (1, 1)).launch("ld.global.u32 %x, [%a+-4];").unwrap();
    on(&rig, (1, 1)).finds("ld.global.u32 %x, [%c+-68];");
}

#[test]
fn an_address_that_is_not_of_one_pointer_alone_is_left_alone() {
    let rig = rig();
    rig.view().write(rig.base + BUFFER, &rig.base.to_le_bytes()).unwrap();
    let far = format!("{}", 2 * BUFFER);
    for body in [
        // Read from memory.
        "ld.global.u64 %w, [%a]; st.global.u32 [%w+FAR], 1;",
        // One of two.
        "setp.eq.u32 %p, %t, 0; selp.b64 %w, %a, %c, %p; ld.global.u32 %x, [%w+FAR];",
        // A distance.
        "sub.u64 %w, %c, %a; add.u64 %w, %a, %w; ld.global.u32 %x, [%w+4];",
        // Shared memory, by a generic address.
        "mov.u64 %w, s; cvta.shared.u64 %w, %w; st.u32 [%w], 1;",
    ] {
        on(&rig, (1, 1)).launch(&body.replace("FAR", &far)).unwrap();
    }
}

#[test]
fn all_of_the_buffer_may_be_used() {
    let rig = rig();
    on(&rig, ((BUFFER / 1024) as u32, 256)).launch("st.global.u32 [%at], %g; ld.global.u32 %x, [%at];").unwrap();
}

#[test]
fn what_is_not_mapped_faults_as_ever() {
    let rig = rig();
    let stop = on(&rig, (1, 1)).launch(&format!("st.global.u32 [%a+{}], 1;", 4 * BUFFER)).unwrap_err();
    assert!(matches!(stop.cause, peermap_exec::Cause::Memory { .. }), "{stop}");
}
