//! Which values threads share, and which grow from thread to thread.

use peermap_ptx::analysis::{BlockShape, ControlFlow, Liveness, Shape, Uniformity};
use peermap_ptx::{Body, Module, Operation};

use crate::{body, register};

const KERNELS: &str = include_str!("../../../../kernels/memmap_ipc.ptx");

fn uniformity(body: &Body, block: BlockShape) -> Uniformity {
    let flow = ControlFlow::of(body);
    Uniformity::of(body, &flow, &Liveness::of(body, &flow), block)
}

/// The shape of a register of these statements in a block that is a line.
fn shape(statements: &str, name: &str) -> Shape {
    let body = body(statements);
    uniformity(&body, BlockShape::Line).shape(register(&body, name))
}

fn stride(stride: i64) -> Shape {
    Shape::Affine { stride }
}

#[test]
fn special_registers_have_shapes() {
    let shape = |special: &str| shape(&format!("mov.u32 %r1, {special};"), "%r1");
    for uniform in ["%ntid.x", "%ctaid.y", "%nctaid.z", "%smid", "%dynamic_smem_size", "%tid.y", "%tid.w"] {
        assert_eq!(shape(uniform), Shape::Uniform, "{uniform}");
    }
    for varying in ["%laneid", "%warpid", "%lanemask_lt", "%clock", "%globaltimer_lo"] {
        assert_eq!(shape(varying), Shape::Varying, "{varying}");
    }
    assert_eq!(shape("%tid.x"), stride(1));
}

#[test]
fn rows_differ_where_blocks_may_have_several() {
    let body = body("mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 32, %r2;");
    let any = uniformity(&body, BlockShape::Any);
    let line = uniformity(&body, BlockShape::Line);
    assert_eq!(any.shape(register(&body, "%r1")), Shape::Varying);
    assert_eq!(any.shape(register(&body, "%r3")), Shape::Varying);
    assert_eq!(line.shape(register(&body, "%r3")), stride(1));
}

#[test]
fn arithmetic_keeps_what_is_linear() {
    let cases = [
        ("add.u32 %r2, %r1, %r9;", stride(1)),
        ("sub.u32 %r2, %r9, %r1;", stride(-1)),
        ("sub.u32 %r2, %r1, %r1;", Shape::Uniform),
        ("add.u32 %r2, %r1, %r1;", stride(2)),
        ("mul.lo.u32 %r2, %r1, 12;", stride(12)),
        ("mul.lo.s32 %r2, %r1, -4;", stride(-4)),
        ("mad.lo.u32 %r2, %r1, 8, %r1;", stride(9)),
        ("shl.b32 %r2, %r1, 4;", stride(16)),
        ("shl.b32 %r2, %r1, 32;", Shape::Varying),
        ("neg.s32 %r2, %r1;", stride(-1)),
        ("mul.lo.u32 %r2, %r1, 0;", Shape::Uniform),
        ("mul.lo.u32 %r2, %r1, %r9;", Shape::Varying),
        ("mul.hi.u32 %r2, %r1, 4;", Shape::Varying),
        ("and.b32 %r2, %r1, 3;", Shape::Varying),
        ("add.sat.s32 %r2, %r1, 3;", Shape::Varying),
        ("xor.b32 %r2, %r9, 3;", Shape::Uniform),
        ("shr.u32 %r2, %r1, 1;", Shape::Varying),
        ("popc.b32 %r2, %r9;", Shape::Uniform),
        ("cvt.u32.u8 %r2, %r1;", Shape::Varying),
        ("lop3.b32 %r2, %r9, %r9, 1, 0x80;", Shape::Uniform),
        ("bfi.b32 %r2, %r1, %r9, 0, 4;", Shape::Varying),
    ];
    for (statement, wanted) in cases {
        let text = format!("mov.u32 %r1, %tid.x; mov.u32 %r9, %ctaid.x; {statement}");
        assert_eq!(shape(&text, "%r2"), wanted, "{statement}");
    }
}

#[test]
fn widening_is_sound_where_nothing_wraps_and_noted_elsewhere() {
    let check = |statements: &str| {
        let body = body(&format!("mov.u32 %r1, %tid.x; mov.u32 %r9, %ctaid.x; {statements}"));
        let found = uniformity(&body, BlockShape::Line);
        (found.shape(register(&body, "%d1")), found.assumed().len())
    };
    assert_eq!(check("cvt.u64.u32 %d1, %r1;"), (stride(1), 0));
    assert_eq!(check("mul.wide.u32 %d1, %r1, 4;"), (stride(4), 0));
    assert_eq!(check("shl.b32 %r2, %r1, 4; cvt.s64.s32 %d1, %r2;"), (stride(16), 0));
    assert_eq!(check("mul.lo.u32 %r2, %r1, 0x400000; cvt.u64.u32 %d1, %r2;"), (stride(0x40_0000), 0));
    assert_eq!(check("mul.lo.u32 %r2, %r1, 0x800000; cvt.u64.u32 %d1, %r2;"), (stride(0x80_0000), 1));
    assert_eq!(check("add.u32 %r2, %r1, %r9; cvt.u64.u32 %d1, %r2;"), (stride(1), 1));
    assert_eq!(check("sub.u32 %r2, %r1, 1; mul.wide.s32 %d1, %r2, 8;"), (stride(8), 1));
    assert_eq!(check("cvt.u64.u32 %d1, %r9;"), (Shape::Uniform, 0));
}

#[test]
fn loads_are_uniform_from_one_address_that_all_share() {
    let cases = [
        ("ld.param.u32 %r2, [p];", Shape::Uniform),
        ("ld.global.u32 %r2, [%d1];", Shape::Uniform),
        ("ld.shared.u32 %r2, [s+4];", Shape::Uniform),
        ("ld.global.u32 %r2, [%d2];", Shape::Varying),
        ("ld.u32 %r2, [%d1];", Shape::Varying),
        ("ld.local.u32 %r2, [%d1];", Shape::Varying),
        ("atom.global.add.u32 %r2, [%d1], 1;", Shape::Varying),
        ("activemask.b32 %r2;", Shape::Varying),
        ("bar.red.popc.u32 %r2, 0, %p1;", Shape::Uniform),
    ];
    for (statement, wanted) in cases {
        let text = format!(
            "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.u64 %d2, %d1, %d3; \
             setp.eq.u32 %p1, %r1, 0; {statement}"
        );
        assert_eq!(shape(&text, "%r2"), wanted, "{statement}");
    }
}

#[test]
fn addresses_stay_linear_in_every_window_but_that_of_local_memory() {
    let cases = [
        ("cvta.shared.u64 %d2, %d1;", stride(4)),
        ("cvta.to.global.u64 %d2, %d1;", stride(4)),
        ("cvta.local.u64 %d2, %d1;", Shape::Varying),
        ("isspacep.global %p1, %d1; selp.u64 %d2, 1, 0, %p1;", Shape::Varying),
    ];
    for (statement, wanted) in cases {
        let text = format!("mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; {statement}");
        assert_eq!(shape(&text, "%d2"), wanted, "{statement}");
    }
}

#[test]
fn what_both_sides_of_a_divergent_branch_write_varies_where_they_meet() {
    let branch = |by: &str| {
        let text = format!(
            "mov.u32 %r1, {by}; setp.eq.u32 %p1, %r1, 0; @%p1 bra B; mov.u32 %r2, 1; mov.u32 %r4, 7; bra C; \
             B: mov.u32 %r2, 2; C: mov.u32 %r3, %r2;"
        );
        (shape(&text, "%r2"), shape(&text, "%r3"), shape(&text, "%r4"))
    };
    assert_eq!(branch("%tid.x"), (Shape::Varying, Shape::Varying, Shape::Uniform));
    assert_eq!(branch("%ctaid.x"), (Shape::Uniform, Shape::Uniform, Shape::Uniform));
}

#[test]
fn a_write_under_a_varying_guard_varies() {
    let guarded = |by: &str| {
        shape(&format!("mov.u32 %r1, {by}; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 1; @%p1 mov.u32 %r2, 2;"), "%r2")
    };
    assert_eq!(guarded("%tid.x"), Shape::Varying);
    assert_eq!(guarded("%ctaid.x"), Shape::Uniform);
}

#[test]
fn what_a_loop_leaves_behind_varies_if_threads_leave_at_different_times() {
    let leave = |behind: &str| {
        let text = format!(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; add.u32 %r1, %r1, %r2; \
             setp.lt.u32 %p1, %r1, 100; @%p1 bra L; {behind}"
        );
        (shape(&text, "%r1"), shape(&text, "%r2"))
    };
    assert_eq!(leave("ret;"), (stride(1), Shape::Uniform));
    assert_eq!(leave("mov.u32 %r3, %r2;"), (Shape::Varying, Shape::Varying));
}

#[test]
fn what_a_loop_leaves_behind_by_a_break_varies_too() {
    let text = "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r9, %ctaid.x;
        L: add.u32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, %r1; @%p1 bra X; setp.lt.u32 %p2, %r2, %r9; @%p2 bra L; bra E;
        X: mov.u32 %r3, %r2; E: ret;";
    assert_eq!(shape(text, "%r3"), Shape::Varying);
    assert_eq!(shape(text, "%r9"), Shape::Uniform);
}

#[test]
fn paths_that_join_before_all_threads_meet_are_seen() {
    let text = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r9, %ctaid.x; setp.eq.u32 %p2, %r9, 0;
        mov.u32 %r2, 0; @%p1 bra A; mov.u32 %r2, 1; @%p2 bra E; bra J; A: mov.u32 %r2, 2;
        J: mov.u32 %r3, %r2; E: ret;";
    assert_eq!(shape(text, "%r3"), Shape::Varying);
}

#[test]
fn what_is_written_once_outside_loops_is_the_same_for_all_who_read_it() {
    let text = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra E; mov.u32 %r2, %ctaid.x;
        L: add.u32 %r1, %r1, %r2; setp.lt.u32 %p2, %r1, 100; @%p2 bra L; E: mov.u32 %r3, %r2;";
    assert_eq!(shape(text, "%r2"), Shape::Uniform);
}

#[test]
fn what_a_caller_gives_varies() {
    let module = crate::module(
        ".func (.reg .u32 a) f(.reg .u32 b, .param .u32 c) { ld.param.u32 a, [c]; add.u32 a, a, b; ret; }",
    );
    let body = module.functions()[0].body.as_ref().expect("it has one");
    let found = uniformity(body, BlockShape::Line);
    assert_eq!(body.given, [register(body, "b")]);
    assert_eq!((found.shape(register(body, "a")), found.shape(register(body, "b"))), (Shape::Varying, Shape::Varying));
}

#[test]
fn divergent_branches_are_listed() {
    let text = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra A; mov.u32 %r2, %ctaid.x; A:
        setp.eq.u32 %p2, %r9, 0; mov.u32 %r3, %ctaid.x; setp.eq.u32 %p3, %r3, 0; @%p3 bra B; mov.u32 %r4, 1; B: ret;";
    let found = uniformity(&body(text), BlockShape::Line);
    assert_eq!(found.divergent().iter().map(|block| block.0).collect::<Vec<_>>(), [0]);
}

/// The kernels step through memory thread by thread, which is what makes them fast to run side by side.
#[test]
fn every_access_of_our_kernels_to_global_memory_is_contiguous() {
    let module = Module::parse(KERNELS).expect("parses");
    let mut strides = Vec::new();
    for entry in &module.entries()[..3] {
        let found = uniformity(&entry.body, BlockShape::Line);
        assert_eq!(found.assumed(), []);
        let stores = entry.body.instructions.iter().filter_map(|instruction| match &instruction.operation {
            Operation::Store(store) => Some((store.address.base, store.sources.len())),
            _ => None,
        });
        strides.extend(stores.map(|(base, elements)| match base {
            peermap_ptx::AddressBase::Register(register) => (elements, found.shape(register)),
            other => panic!("{other:?} is no register"),
        }));
    }
    assert!(strides.len() >= 12);
    let expected = |elements: usize| if elements == 2 { stride(16) } else { stride(1) };
    assert!(strides.iter().all(|(elements, shape)| *shape == expected(*elements)), "{strides:?}");
}
