//! Loads, stores, atomic operations, multicast and caches.

use peermap_ptx::ScalarType as T;
use peermap_ptx::instruction::{
    Atomic, AtomicOp, AtomicValue, CacheHint, CacheHintKind, CacheOperator, Load, MultimemLoadReduce, MultimemReduce,
    MultimemStore, Operation, Order, Scope, StateSpace, Store,
};
use peermap_ptx::{Address, AddressBase, LocalId, Symbol, VariableId};

use crate::{at, immediate, operation, read, register, source};

fn load(statement: &str) -> Load {
    match operation(statement) {
        Operation::Load(load) => load,
        other => panic!("{other:?}"),
    }
}

fn store(statement: &str) -> Store {
    match operation(statement) {
        Operation::Store(store) => store,
        other => panic!("{other:?}"),
    }
}

fn atomic(statement: &str) -> Atomic {
    match operation(statement) {
        Operation::Atomic(atomic) => atomic,
        other => panic!("{other:?}"),
    }
}

fn symbol(symbol: Symbol, offset: i64) -> Address {
    Address { base: AddressBase::Symbol(symbol), offset }
}

#[test]
fn a_load_says_what_from_where_and_how() {
    let (body, found) = read("ld.acquire.sys.global.v2.u8 {%r1, _}, [%d1+-16];");
    let wanted = Load {
        space: StateSpace::Global,
        order: Order::Acquire(Scope::Sys),
        read_only: false,
        cache: CacheOperator::Default,
        ty: T::U8,
        destinations: vec![Some(register(&body, "%r1")), None],
        address: at(&body, "%d1", -16),
    };
    assert_eq!(found, Operation::Load(wanted));
}

#[test]
fn spaces_of_loads() {
    let variable = |number, offset| symbol(Symbol::Variable(VariableId(number)), offset);
    let cases = [
        ("ld.global.u32 %r1, [g+4*2];", StateSpace::Global, variable(0, 8)),
        ("ld.global.u32 %r1, g[3];", StateSpace::Global, variable(0, 12)),
        ("ld.u32 %r1, [g];", StateSpace::Generic, variable(0, 0)),
        ("ld.const.u32 %r1, [c+4];", StateSpace::Const, variable(1, 4)),
        ("ld.shared.u32 %r1, [dyn];", StateSpace::Shared, variable(2, 0)),
        ("ld.shared::cta.u32 %r1, [sh];", StateSpace::Shared, variable(3, 0)),
        ("ld.shared::cluster.u32 %r1, [sh];", StateSpace::SharedCluster, variable(3, 0)),
        ("ld.local.u32 %r1, [lo];", StateSpace::Local, symbol(Symbol::Local(LocalId(0)), 0)),
        ("ld.local.u32 %r1, [16];", StateSpace::Local, Address { base: AddressBase::Absolute, offset: 16 }),
        ("ld.param.v2.u32 {%r1, %r2}, [p2+8];", StateSpace::ParamEntry, symbol(Symbol::Parameter(2), 8)),
        ("ld.param::entry.u64 %d1, [p0];", StateSpace::ParamEntry, symbol(Symbol::Parameter(0), 0)),
    ];
    for (statement, space, address) in cases {
        let load = load(statement);
        assert_eq!((load.space, load.address), (space, address), "{statement}");
    }
    let (body, _) = read("ld.shared.u32 %r1, [%r2+4];");
    assert_eq!(load("ld.shared.u32 %r1, [%r2+4];").address, at(&body, "%r2", 4));
}

#[test]
fn orders_and_caches_of_loads() {
    let cases = [
        ("ld.weak.global.u32 %r1, [%d1];", Order::Weak, CacheOperator::Default, false),
        ("ld.volatile.u32 %r1, [%d1];", Order::Volatile, CacheOperator::Default, false),
        ("ld.relaxed.gpu.u32 %r1, [%d1];", Order::Relaxed(Scope::Gpu), CacheOperator::Default, false),
        ("ld.acquire.cluster.u32 %r1, [%d1];", Order::Acquire(Scope::Cluster), CacheOperator::Default, false),
        ("ld.mmio.relaxed.sys.global.u32 %r1, [%d1];", Order::Mmio, CacheOperator::Default, false),
        ("ld.global.ca.L2::64B.u32 %r1, [%d1];", Order::Weak, CacheOperator::All, false),
        ("ld.cg.u32 %r1, [%d1];", Order::Weak, CacheOperator::Global, false),
        ("ld.cs.u32 %r1, [%d1];", Order::Weak, CacheOperator::Streaming, false),
        ("ld.lu.u32 %r1, [%d1];", Order::Weak, CacheOperator::LastUse, false),
        ("ld.cv.u32 %r1, [%d1];", Order::Weak, CacheOperator::Volatile, false),
        ("ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %r1, [%d1], %d2;", Order::Weak, CacheOperator::Default, true),
        ("ldu.global.u32 %r1, [%d1];", Order::Weak, CacheOperator::Default, true),
    ];
    for (statement, order, cache, read_only) in cases {
        let load = load(statement);
        assert_eq!((load.order, load.cache, load.read_only), (order, cache, read_only), "{statement}");
    }
    assert_eq!(load("ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1];").destinations.len(), 8);
    assert_eq!(load("ld.global.v2.f32 %v, [%d1];").destinations.len(), 2);
    assert_eq!(load("ld.global.b128 %q1, [%d1];").ty, T::B128);
}

#[test]
fn a_store_says_what_where_and_how() {
    let (body, found) = read("st.release.cta.shared.v4.f32 [%r1+8], {%f1, %f2, 0f00000000, 1.0};");
    let wanted = Store {
        space: StateSpace::Shared,
        order: Order::Release(Scope::Cta),
        cache: CacheOperator::Default,
        ty: T::F32,
        address: at(&body, "%r1", 8),
        sources: vec![source(&body, "%f1"), source(&body, "%f2"), immediate(T::F32, 0), immediate(T::F32, 0x3F80_0000)],
    };
    assert_eq!(found, Operation::Store(wanted));
    assert_eq!(store("st.wt.u32 [%d1], %r1;").cache, CacheOperator::WriteThrough);
    assert_eq!(store("st.wb.u32 [%d1], %r1;").cache, CacheOperator::WriteBack);
    assert_eq!(store("st.volatile.u32 [%d1], %r1;").order, Order::Volatile);
    assert_eq!(store("st.global.u8 [%d1], 300;").sources, [immediate(T::U8, 44)]);
}

#[test]
fn an_atomic_operation_says_all_of_itself() {
    let (body, found) = read("atom.acq_rel.sys.global.cas.b64 %d1, [%d2+8], %d3, 7;");
    let wanted = Atomic {
        op: AtomicOp::CompareAndSwap,
        order: Order::AcquireRelease(Scope::Sys),
        scope: Scope::Sys,
        space: StateSpace::Global,
        ty: T::B64,
        noftz: false,
        address: at(&body, "%d2", 8),
        values: vec![AtomicValue {
            destination: Some(register(&body, "%d1")),
            operand: source(&body, "%d3"),
            swap: Some(immediate(T::B64, 7)),
        }],
    };
    assert_eq!(found, Operation::Atomic(wanted));
}

#[test]
fn operations_types_orders_and_spaces_of_atomics() {
    let gpu = Order::Relaxed(Scope::Gpu);
    let cases = [
        ("atom.add.u32 %r1, [%d1], %r2;", AtomicOp::Add, T::U32, gpu, StateSpace::Generic),
        ("atom.global.add.f64 %e1, [%d1], %e2;", AtomicOp::Add, T::F64, gpu, StateSpace::Global),
        ("atom.add.noftz.bf16x2 %r1, [%d1], %r2;", AtomicOp::Add, T::Bf16x2, gpu, StateSpace::Generic),
        ("atom.shared.exch.b32 %r1, [%r2], %r3;", AtomicOp::Exchange, T::B32, gpu, StateSpace::Shared),
        ("atom.exch.b128 %q1, [%d1], %q2;", AtomicOp::Exchange, T::B128, gpu, StateSpace::Generic),
        (
            "atom.cta.inc.u32 %r1, [%d1], %r2;",
            AtomicOp::Increment,
            T::U32,
            Order::Relaxed(Scope::Cta),
            StateSpace::Generic,
        ),
        ("atom.dec.u32 %r1, [%d1], 9;", AtomicOp::Decrement, T::U32, gpu, StateSpace::Generic),
        (
            "atom.acquire.gpu.min.s64 %d1, [%d2], %d3;",
            AtomicOp::Min,
            T::S64,
            Order::Acquire(Scope::Gpu),
            StateSpace::Generic,
        ),
        (
            "atom.release.cluster.max.u32 %r1, [%d2], %r3;",
            AtomicOp::Max,
            T::U32,
            Order::Release(Scope::Cluster),
            StateSpace::Generic,
        ),
        ("atom.shared::cluster.and.b32 %r1, [%r2], %r3;", AtomicOp::And, T::B32, gpu, StateSpace::SharedCluster),
        ("atom.or.b64 _, [%d2], %d3;", AtomicOp::Or, T::B64, gpu, StateSpace::Generic),
        (
            "red.relaxed.sys.global.xor.b32 [%d1], %r2;",
            AtomicOp::Xor,
            T::B32,
            Order::Relaxed(Scope::Sys),
            StateSpace::Global,
        ),
        ("red.add.noftz.f16x2 [%d1], %r2;", AtomicOp::Add, T::F16x2, gpu, StateSpace::Generic),
        ("red.global.add.L2::cache_hint.u32 [%d1], %r2, %d2;", AtomicOp::Add, T::U32, gpu, StateSpace::Global),
    ];
    for (statement, op, ty, order, space) in cases {
        let found = atomic(statement);
        assert_eq!((found.op, found.ty, found.order, found.space), (op, ty, order, space), "{statement}");
        assert_eq!(found.noftz, statement.contains("noftz"), "{statement}");
    }
    let vector = atomic("atom.global.v2.f32.add {%f1, _}, [%d1], {%f3, %f4};");
    assert_eq!(vector.values.iter().map(|value| value.destination.is_some()).collect::<Vec<_>>(), [true, false]);
    let reduction = atomic("red.global.v2.f16x2.min.noftz [%d1], {%r1, %r2};");
    assert!(reduction.values.len() == 2 && reduction.values.iter().all(|value| value.destination.is_none()));
}

#[test]
fn multicast() {
    let (body, found) = read("multimem.ld_reduce.acquire.gpu.global.add.acc::f32.v2.f16x2 {%r1, %r2}, [%d1];");
    let wanted = MultimemLoadReduce {
        op: AtomicOp::Add,
        order: Order::Acquire(Scope::Gpu),
        space: StateSpace::Global,
        ty: T::F16x2,
        accumulate: Some(T::F32),
        destinations: vec![Some(register(&body, "%r1")), Some(register(&body, "%r2"))],
        address: at(&body, "%d1", 0),
    };
    assert_eq!(found, Operation::MultimemLoadReduce(wanted));

    let (body, found) = read("multimem.st.release.sys.global.b64 [%d1+8], %d2;");
    let wanted = MultimemStore {
        order: Order::Release(Scope::Sys),
        space: StateSpace::Global,
        ty: T::B64,
        address: at(&body, "%d1", 8),
        sources: vec![source(&body, "%d2")],
    };
    assert_eq!(found, Operation::MultimemStore(wanted));

    let (body, found) = read("multimem.red.relaxed.gpu.max.s32 [%d1], 3;");
    let wanted = MultimemReduce {
        op: AtomicOp::Max,
        order: Order::Relaxed(Scope::Gpu),
        space: StateSpace::Generic,
        ty: T::S32,
        address: at(&body, "%d1", 0),
        sources: vec![immediate(T::S32, 3)],
    };
    assert_eq!(found, Operation::MultimemReduce(wanted));
}

#[test]
fn what_only_caches_see() {
    let cases = [
        ("prefetch.global.L1 [%d1];", CacheHintKind::Prefetch, StateSpace::Global, 0),
        ("prefetchu.L1 [%d1];", CacheHintKind::Prefetch, StateSpace::Generic, 0),
        ("prefetch.global.L2::evict_last [%d1];", CacheHintKind::Prefetch, StateSpace::Global, 0),
        ("applypriority.global.L2::evict_normal [%d1], 128;", CacheHintKind::ApplyPriority, StateSpace::Global, 128),
        ("discard.L2 [%d1], 128;", CacheHintKind::Discard, StateSpace::Generic, 128),
    ];
    for (statement, kind, space, bytes) in cases {
        let (body, found) = read(statement);
        let address = at(&body, "%d1", 0);
        assert_eq!(found, Operation::CacheHint(CacheHint { kind, space, address, bytes }), "{statement}");
    }
    let (body, found) = read("createpolicy.cvt.L2.b64 %d1, %d2;");
    let sources = vec![source(&body, "%d2")];
    assert_eq!(found, Operation::CreatePolicy { destination: register(&body, "%d1"), sources });
}
