//! `setp`, `set`, `selp`, `slct`.

use peermap_ptx::ScalarType as T;
use peermap_ptx::instruction::{BoolOp, Combine, Comparison, Operation, Set, SetPredicate, TernaryOp};

use crate::{operation, predicate, read, register, source, ternary};

fn set_predicate(statement: &str) -> SetPredicate {
    match operation(statement) {
        Operation::SetPredicate(set) => set,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_relation_and_the_type_go_together() {
    let cases = [
        (".eq.b16 %p1, %h2, %h3;", Comparison::Equal, T::B16),
        (".ne.b64 %p1, %d2, %d3;", Comparison::NotEqual, T::B64),
        (".lt.s32 %p1, %r2, %r3;", Comparison::Less, T::S32),
        (".lo.u32 %p1, %r2, %r3;", Comparison::Less, T::U32),
        (".ls.u64 %p1, %d2, %d3;", Comparison::LessEqual, T::U64),
        (".hi.u16 %p1, %h2, %h3;", Comparison::Greater, T::U16),
        (".hs.u32 %p1, %r2, %r3;", Comparison::GreaterEqual, T::U32),
        (".ge.f32 %p1, %f2, %f3;", Comparison::GreaterEqual, T::F32),
        (".equ.f64 %p1, %e2, %e3;", Comparison::EqualOrUnordered, T::F64),
        (".neu.f16 %p1, %h2, %h3;", Comparison::NotEqualOrUnordered, T::F16),
        (".ltu.bf16 %p1, %h2, %h3;", Comparison::LessOrUnordered, T::Bf16),
        (".leu.f32 %p1, %f2, %f3;", Comparison::LessEqualOrUnordered, T::F32),
        (".gtu.f32 %p1, %f2, %f3;", Comparison::GreaterOrUnordered, T::F32),
        (".geu.f16x2 %p1, %r2, %r3;", Comparison::GreaterEqualOrUnordered, T::F16x2),
        (".num.f32 %p1, %f2, %f3;", Comparison::Ordered, T::F32),
        (".nan.f32 %p1, %f2, %f3;", Comparison::Unordered, T::F32),
    ];
    for (form, comparison, ty) in cases {
        let set = set_predicate(&format!("setp{form}"));
        assert_eq!(
            (set.comparison, set.ty, set.ftz, set.combine, set.q),
            (comparison, ty, false, None, None),
            "{form}"
        );
    }
}

#[test]
fn outcomes_are_joined_and_may_be_two() {
    let (body, found) = read("setp.gt.xor.ftz.f32 _|%p2, %f1, %f2, !%p3;");
    let wanted = SetPredicate {
        comparison: Comparison::Greater,
        ty: T::F32,
        ftz: true,
        combine: Some(Combine { op: BoolOp::Xor, with: predicate(&body, "%p3", true) }),
        p: None,
        q: Some(register(&body, "%p2")),
        a: source(&body, "%f1"),
        b: source(&body, "%f2"),
    };
    assert_eq!(found, Operation::SetPredicate(wanted));
    let (body, found) = read("setp.eq.bf16x2 %p1|%p2, %r2, %r3;");
    let Operation::SetPredicate(set) = found else { panic!("{found:?}") };
    assert_eq!((set.p, set.q), (Some(register(&body, "%p1")), Some(register(&body, "%p2"))));
}

#[test]
fn outcomes_as_numbers() {
    let (body, found) = read("set.le.and.f32.s64 %f1, %d2, %d3, %p4;");
    let wanted = Set {
        comparison: Comparison::LessEqual,
        ty: T::S64,
        to: T::F32,
        ftz: false,
        combine: Some(Combine { op: BoolOp::And, with: predicate(&body, "%p4", false) }),
        destination: register(&body, "%f1"),
        a: source(&body, "%d2"),
        b: source(&body, "%d3"),
    };
    assert_eq!(found, Operation::Set(wanted));
    for (statement, to, ty) in [
        ("set.eq.u32.f16x2 %r1, %r2, %r3;", T::U32, T::F16x2),
        ("set.eq.f16x2.f16x2 %r1, %r2, %r3;", T::F16x2, T::F16x2),
        ("set.eq.u16.f16 %h1, %h2, %h3;", T::U16, T::F16),
        ("set.ltu.ftz.s32.f32 %r1, %f2, %f3;", T::S32, T::F32),
    ] {
        let found = operation(statement);
        assert!(matches!(found, Operation::Set(set) if (set.to, set.ty) == (to, ty)), "{statement}");
    }
}

#[test]
fn one_of_two_is_chosen() {
    let cases = [
        ("selp.b16 %h1, %h2, %h3, %p4;", TernaryOp::Select { bits: 16 }),
        ("selp.f64 %e1, %e2, %e3, %p4;", TernaryOp::Select { bits: 64 }),
        ("slct.u64.s32 %d1, %d2, %d3, %r4;", TernaryOp::SelectSigned { bits: 64 }),
        ("slct.ftz.b32.f32 %r1, %r2, %r3, %f4;", TernaryOp::SelectFloat { bits: 32, ftz: true }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(ternary(statement), wanted, "{statement}");
    }
    // A negated predicate is the other choice.
    let (body, found) = read("selp.b32 %r1, %r2, %r3, !%p4;");
    let Operation::Ternary { a, b, c, .. } = found else { panic!("{found:?}") };
    assert_eq!((a, b, c), (source(&body, "%r3"), source(&body, "%r2"), source(&body, "%p4")));
}
