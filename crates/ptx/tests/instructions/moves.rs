//! `mov` in its forms.

use peermap_ptx::ScalarType as T;
use peermap_ptx::instruction::Operation;
use peermap_ptx::{Axis, EntryId, LocalId, MoveSource, Source, SpecialRegister as S, Symbol, VariableId};

use crate::{immediate, operation, read, register, source};

/// What a `mov` of one value reads, and the type that it names.
fn moved(statement: &str) -> (T, MoveSource) {
    match operation(statement) {
        Operation::Move { ty, source, .. } => (ty, source),
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_of_every_type() {
    let (body, found) = read("mov.b64 %e1, %d2;");
    let source = MoveSource::Value(source(&body, "%d2"));
    assert_eq!(found, Operation::Move { ty: T::B64, destination: register(&body, "%e1"), source });
    let value = |ty, bits| (ty, MoveSource::Value(immediate(ty, bits)));
    assert_eq!(moved("mov.b32 %r1, 0f3F800000;"), value(T::B32, 0x3F80_0000));
    assert_eq!(moved("mov.f64 %e1, 0.5;"), value(T::F64, 0x3FE0_0000_0000_0000));
    assert_eq!(moved("mov.u16 %h1, -1;"), value(T::U16, 0xFFFF));
    assert_eq!(moved("mov.pred %p1, 1;"), value(T::Pred, 1));
    assert_eq!(moved("mov.b128 %q1, %q2;").0, T::B128);
}

#[test]
fn special_registers() {
    let cases = [
        ("mov.u32 %r1, %tid.x;", S::Tid(Axis::X)),
        ("mov.b32 %r1, %ntid.y;", S::Ntid(Axis::Y)),
        ("mov.u16 %h1, %ctaid.z;", S::Ctaid(Axis::Z)),
        ("mov.u32 %r1, %nctaid.w;", S::Nctaid(Axis::W)),
        ("mov.u32 %r1, %clusterid.x;", S::ClusterId(Axis::X)),
        ("mov.u32 %r1, %nclusterid.x;", S::NclusterId(Axis::X)),
        ("mov.u32 %r1, %cluster_ctaid.y;", S::ClusterCtaid(Axis::Y)),
        ("mov.u32 %r1, %cluster_nctaid.z;", S::ClusterNctaid(Axis::Z)),
        ("mov.u32 %r1, %cluster_ctarank;", S::ClusterCtarank),
        ("mov.u32 %r1, %cluster_nctarank;", S::ClusterNctarank),
        ("mov.pred %p1, %is_explicit_cluster;", S::IsExplicitCluster),
        ("mov.u32 %r1, %laneid;", S::LaneId),
        ("mov.u32 %r1, %warpid;", S::WarpId),
        ("mov.u32 %r1, %nwarpid;", S::NwarpId),
        ("mov.u32 %r1, %smid;", S::SmId),
        ("mov.u32 %r1, %nsmid;", S::NsmId),
        ("mov.u64 %d1, %gridid;", S::GridId),
        ("mov.u32 %r1, %gridid;", S::GridId),
        ("mov.u32 %r1, %lanemask_eq;", S::LanemaskEq),
        ("mov.u32 %r1, %lanemask_le;", S::LanemaskLe),
        ("mov.u32 %r1, %lanemask_lt;", S::LanemaskLt),
        ("mov.u32 %r1, %lanemask_ge;", S::LanemaskGe),
        ("mov.u32 %r1, %lanemask_gt;", S::LanemaskGt),
        ("mov.u32 %r1, %clock;", S::Clock),
        ("mov.u32 %r1, %clock_hi;", S::ClockHi),
        ("mov.u64 %d1, %clock64;", S::Clock64),
        ("mov.u64 %d1, %globaltimer;", S::GlobalTimer),
        ("mov.u32 %r1, %globaltimer_lo;", S::GlobalTimerLow),
        ("mov.u32 %r1, %globaltimer_hi;", S::GlobalTimerHigh),
        ("mov.u32 %r1, %dynamic_smem_size;", S::DynamicSharedSize),
        ("mov.u32 %r1, %total_smem_size;", S::TotalSharedSize),
        ("mov.u32 %r1, %aggr_smem_size;", S::AggregateSharedSize),
        ("mov.b32 %r1, %reserved_smem_offset_1;", S::ReservedShared(4)),
        ("mov.u64 %d1, %current_graph_exec;", S::CurrentGraphExec),
        ("mov.b32 %r1, %envreg31;", S::Envreg(31)),
        ("mov.u32 %r1, %pm7;", S::PerformanceMonitor(7)),
        ("mov.u64 %d1, %pm0_64;", S::PerformanceMonitor64(0)),
    ];
    for (statement, wanted) in cases {
        assert_eq!(moved(statement).1, MoveSource::Special(wanted), "{statement}");
    }
}

#[test]
fn addresses_of_symbols() {
    let variable = |number, offset| MoveSource::Symbol(Symbol::Variable(VariableId(number)), offset);
    assert_eq!(moved("mov.u64 %d1, g+4;"), (T::U64, variable(0, 4)));
    assert_eq!(moved("mov.u32 %r1, dyn;"), (T::U32, variable(2, 0)));
    assert_eq!(moved("mov.b64 %d1, sh+-4;"), (T::B64, variable(3, -4)));
    assert_eq!(moved("mov.u64 %d1, lo;").1, MoveSource::Symbol(Symbol::Local(LocalId(0)), 0));
    assert_eq!(moved("mov.u64 %d1, p2+8;").1, MoveSource::Symbol(Symbol::Parameter(2), 8));
    assert_eq!(moved("mov.u64 %d1, k;").1, MoveSource::Symbol(Symbol::Entry(EntryId(0)), 0));
}

#[test]
fn parts_and_wholes() {
    let (body, found) = read("mov.b64 {_, %r2}, %d1;");
    let destinations = vec![None, Some(register(&body, "%r2"))];
    assert_eq!(found, Operation::Unpack { ty: T::B64, destinations, source: source(&body, "%d1") });

    let (body, found) = read("mov.b32 %r1, {%h1, 5};");
    let sources = vec![source(&body, "%h1"), immediate(T::B16, 5)];
    assert_eq!(found, Operation::Pack { ty: T::B32, destination: register(&body, "%r1"), sources });

    let four = operation("mov.b64 {%h1, %h2, %h3, %h4}, %d1;");
    assert!(matches!(four, Operation::Unpack { destinations, .. } if destinations.len() == 4));
    let bytes = operation("mov.b32 %r1, {%c1, %c2, %c3, %c4};");
    assert!(matches!(bytes, Operation::Pack { sources, .. } if sources.len() == 4));
    let wide = operation("mov.b128 %q1, {%d1, %d2};");
    assert!(matches!(wide, Operation::Pack { ty: T::B128, .. }));
}

#[test]
fn vectors() {
    let (body, found) = read("mov.v2.f32 %v, {%f1, 1.0};");
    let wanted = Operation::MoveVector {
        ty: T::F32,
        destinations: vec![Some(register(&body, "%v.x")), Some(register(&body, "%v.y"))],
        sources: vec![MoveSource::Value(source(&body, "%f1")), MoveSource::Value(immediate(T::F32, 0x3F80_0000))],
    };
    assert_eq!(found, wanted);

    let (body, found) = read("mov.b64 %d1, %v;");
    let sources = vec![source(&body, "%v.x"), source(&body, "%v.y")];
    assert_eq!(found, Operation::Pack { ty: T::B64, destination: register(&body, "%d1"), sources });

    let (body, _) = read("mov.f32 %f1, %v.y;");
    assert_eq!(moved("mov.f32 %f1, %v.y;").1, MoveSource::Value(Source::Register(register(&body, "%v.y"))));

    let found = operation("mov.v4.u32 {%r1, %r2, %r3, _}, %tid;");
    let Operation::MoveVector { sources, .. } = found else { panic!("{found:?}") };
    assert_eq!(sources, [Axis::X, Axis::Y, Axis::Z, Axis::W].map(|axis| MoveSource::Special(S::Tid(axis))));
}
