use peermap_exec::{Check, Finding};
use peermap_memory::Access;

use super::{BODY, Run};
use crate::rig::Rig;

fn on(rig: &Rig, shape: (u32, u32)) -> Run<'_> {
    Run { rig, check: Check::Uninitialised, shape, arguments: [rig.base, rig.base + 4096] }
}

#[test]
fn the_first_byte_that_nothing_wrote_is_named_with_thread_and_line() {
    let rig = Rig::marked(1);
    rig.view().fill(rig.base, 1, 4 * 70 + 1).unwrap();
    let (stop, finding) = on(&rig, (2, 64)).finds("ld.global.u32 %x, [%at];\nst.global.u32 [%ct], %x;");
    let address = rig.base + 4 * 70 + 1;
    assert_eq!(finding, Finding::Uninitialised { address, access: Access::Read });
    assert_eq!((stop.block, stop.thread, stop.line.ptx), ([1, 0, 0], [6, 0, 0], BODY));
}

#[test]
fn what_the_launch_itself_wrote_may_be_read() {
    let rig = Rig::marked(1);
    on(&rig, (4, 32)).launch("st.global.u32 [%at], %g; ld.global.u32 %x, [%at]; st.global.u32 [%ct], %x;").unwrap();
    on(&rig, (4, 32)).launch("ld.global.v2.u32 {%x, %y}, [%a]; atom.global.add.u32 %x, [%ct], 1;").unwrap();
}

#[test]
fn an_atomic_operation_reads_but_an_exchange_whose_result_nobody_wants() {
    let rig = Rig::marked(1);
    on(&rig, (1, 32)).launch("red.global.add.u32 [%at], 0;").unwrap_err();
    on(&rig, (1, 32)).launch("atom.global.exch.b32 _, [%at], 0;").unwrap();
    on(&rig, (1, 32)).launch("red.global.add.u32 [%at], 0;").unwrap();
    let (_, finding) = on(&rig, (1, 32)).finds("atom.global.exch.b32 %x, [%ct], 0;");
    assert_eq!(finding, Finding::Uninitialised { address: rig.base + 4096, access: Access::ReadWrite });
}

#[test]
fn a_fault_is_a_fault() {
    let rig = Rig::marked(1);
    let stop =
        Run { arguments: [rig.base - 4096, 0], ..on(&rig, (1, 32)) }.launch("ld.global.u32 %x, [%at];").unwrap_err();
    assert!(matches!(stop.cause, peermap_exec::Cause::Memory { .. }), "{stop}");
}

#[test]
fn without_the_check_it_reads_as_zero() {
    let rig = Rig::marked(1);
    let other = Run { check: Check::Races, ..on(&rig, (1, 32)) };
    other.launch("ld.global.u32 %x, [%at]; st.global.u32 [%ct], %x;").unwrap();
    assert_eq!(rig.bytes(4096, 128), [0; 128]);
}
