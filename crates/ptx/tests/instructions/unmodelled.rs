//! What the language has and nothing here gives a meaning.

use peermap_ptx::Operation;

use crate::{message, parse};

#[test]
fn it_keeps_its_name_and_place() {
    let statements = [
        ("cp.async.ca.shared.global [%r1], [%d1], 16;", "cp.async.ca.shared.global"),
        ("mbarrier.init.shared.b64 [%r1], 32;", "mbarrier.init.shared.b64"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", "ldmatrix.sync.aligned.m8n8.x1.shared.b16"),
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned"),
        (
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [%r2];",
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group",
        ),
        ("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r1}, [%r2];", "tcgen05.ld.sync.aligned.16x64b.x1.b32"),
        ("vadd.u32.u32.u32 %r1, %r2, %r3;", "vadd.u32.u32.u32"),
        ("cvt.rn.f16x2.e4m3x2 %r1, %h1;", "cvt.rn.f16x2.e4m3x2"),
        ("tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1}];", "tex.1d.v4.f32.s32"),
        (
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32",
        ),
    ];
    for (statement, wanted) in statements {
        let module = parse(&format!("\n  @%p1 {statement}")).expect(statement);
        let instruction = &module.entries()[0].body.instructions[0];
        assert_eq!((&instruction.operation, &*instruction.name), (&Operation::Unmodelled, wanted));
        assert_eq!((instruction.at.column, instruction.guard.is_some()), (8, true));
    }
}

#[test]
fn its_registers_must_exist() {
    assert_eq!(message("vadd.u32.u32.u32 %r1, %r2, %nope;"), "unknown symbol `%nope` (column 28)");
    assert_eq!(message("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%tid}"), "expected `]`, found `}` (column 6)");
}
