use peermap_exec::{Check, Finding, Writer};
use peermap_memory::Access;

use super::{BODY, Run};
use crate::rig::Rig;

/// `%a` and `%c` are the same memory.
fn on(rig: &Rig, shape: (u32, u32)) -> Run<'_> {
    Run { rig, check: Check::Aliases, shape, arguments: [rig.base, rig.alias()] }
}

#[test]
fn a_read_by_another_address_names_both_addresses_and_the_writer() {
    let rig = Rig::new(1);
    let run = on(&rig, (1, 64));
    let (stop, finding) = run.finds("st.global.u32 [%at], %t; bar.sync 0;\nld.global.u32 %x, [%ct+4];");
    let Finding::Alias { address, access, written, writer } = finding else { panic!("{finding}") };
    assert_eq!((address, written, access), (run.arguments[1] + 4, rig.base + 4, Access::Read));
    assert_eq!((stop.thread, stop.line.ptx), ([0; 3], BODY + 1));
    let Writer::Here(writer) = writer else { panic!("{writer}") };
    assert_eq!((writer.thread, writer.line.ptx), ([1, 0, 0], BODY));
}

#[test]
fn a_fence_of_aliases_puts_it_right_and_another_fence_does_not() {
    let body = |fence| format!("st.global.u32 [%at], %t; {fence} ld.global.u32 %x, [%ct];");
    let rig = Rig::new(1);
    on(&rig, (2, 64)).launch(&body("fence.proxy.alias;")).unwrap();
    on(&rig, (2, 64)).finds(&body("membar.sys;"));
    on(&rig, (2, 64)).finds(&body(""));
}

#[test]
fn an_atomic_operation_reads_and_writes_by_its_address() {
    let rig = Rig::new(1);
    on(&rig, (1, 32)).finds("st.global.u32 [%at], %t; atom.global.add.u32 %x, [%ct], 1;");
    on(&rig, (1, 32)).finds("red.global.add.u32 [%at], 1; ld.global.u32 %x, [%ct];");
}

#[test]
fn a_launch_before_and_the_same_address_are_no_concern() {
    let rig = Rig::new(1);
    on(&rig, (2, 64)).launch("st.global.u32 [%at], %t; ld.global.u32 %x, [%at];").unwrap();
    on(&rig, (2, 64)).launch("ld.global.u32 %x, [%ct]; ld.global.u32 %x, [%at];").unwrap();
    on(&rig, (2, 64)).launch("ld.global.u32 %x, [%at]; st.global.u32 [%ct], %x;").unwrap();
}
