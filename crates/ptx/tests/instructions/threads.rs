//! Barriers, fences and what warps do together.

use peermap_ptx::ScalarType as T;
use peermap_ptx::instruction::{
    Barrier, BarrierOp, ClusterBarrier, Fence, Match, Operation, Order, ProxyFence, Reduction, Scope, Shuffle,
    ShuffleMode, Vote, VoteMode, WarpReduce,
};
use peermap_ptx::{BitType, IntegerType};

use crate::{immediate, old_operation, operation, predicate, read, register, source};

#[test]
fn barriers_of_a_block() {
    let plain = |op, number| Barrier { op, aligned: true, barrier: immediate(T::U32, number), threads: None };
    assert_eq!(operation("bar.sync 0;"), Operation::Barrier(plain(BarrierOp::Sync, 0)));
    assert_eq!(operation("bar.cta.sync 3;"), Operation::Barrier(plain(BarrierOp::Sync, 3)));
    let loose = Barrier { aligned: false, ..plain(BarrierOp::Sync, 0) };
    assert_eq!(operation("barrier.sync 0;"), Operation::Barrier(loose));
    assert_eq!(operation("barrier.cta.sync.aligned 0;"), Operation::Barrier(plain(BarrierOp::Sync, 0)));
    let arrived = Barrier { threads: Some(immediate(T::U32, 64)), ..plain(BarrierOp::Arrive, 1) };
    assert_eq!(operation("bar.arrive 1, 64;"), Operation::Barrier(arrived));

    let (body, found) = read("bar.sync %r1, %r2;");
    let named =
        Barrier { barrier: source(&body, "%r1"), threads: Some(source(&body, "%r2")), ..plain(BarrierOp::Sync, 0) };
    assert_eq!(found, Operation::Barrier(named));

    let (body, found) = read("bar.red.popc.u32 %r1, 0, 32, !%p1;");
    let op = BarrierOp::CountTrue { destination: register(&body, "%r1"), predicate: predicate(&body, "%p1", true) };
    assert_eq!(found, Operation::Barrier(Barrier { threads: Some(immediate(T::U32, 32)), ..plain(op, 0) }));
    let (body, found) = read("bar.red.and.pred %p2, 0, %p1;");
    let op = BarrierOp::AllTrue { destination: register(&body, "%p2"), predicate: predicate(&body, "%p1", false) };
    assert_eq!(found, Operation::Barrier(plain(op, 0)));
    let (body, found) = read("barrier.cta.red.or.pred %p2, 0, %p1;");
    let op = BarrierOp::AnyTrue { destination: register(&body, "%p2"), predicate: predicate(&body, "%p1", false) };
    assert_eq!(found, Operation::Barrier(Barrier { aligned: false, ..plain(op, 0) }));
}

#[test]
fn barriers_of_warps_and_clusters() {
    assert_eq!(operation("bar.warp.sync -1;"), Operation::WarpBarrier { mask: immediate(T::U32, 0xFFFF_FFFF) });
    let cases = [
        ("barrier.cluster.arrive;", ClusterBarrier { wait: false, relaxed: false, aligned: false }),
        ("barrier.cluster.arrive.release;", ClusterBarrier { wait: false, relaxed: false, aligned: false }),
        ("barrier.cluster.arrive.relaxed.aligned;", ClusterBarrier { wait: false, relaxed: true, aligned: true }),
        ("barrier.cluster.wait.acquire.aligned;", ClusterBarrier { wait: true, relaxed: false, aligned: true }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(operation(statement), Operation::ClusterBarrier(wanted), "{statement}");
    }
}

#[test]
fn fences() {
    let cases = [
        ("membar.cta;", Fence::SequentiallyConsistent(Scope::Cta)),
        ("membar.gl;", Fence::SequentiallyConsistent(Scope::Gpu)),
        ("membar.sys;", Fence::SequentiallyConsistent(Scope::Sys)),
        ("membar.proxy.alias;", Fence::Proxy(ProxyFence::Alias)),
        ("fence.sc.cluster;", Fence::SequentiallyConsistent(Scope::Cluster)),
        ("fence.sys;", Fence::Ordered(Order::AcquireRelease(Scope::Sys))),
        ("fence.acq_rel.gpu;", Fence::Ordered(Order::AcquireRelease(Scope::Gpu))),
        ("fence.acquire.gpu;", Fence::Ordered(Order::Acquire(Scope::Gpu))),
        ("fence.release.sync_restrict::shared::cta.cluster;", Fence::Ordered(Order::Release(Scope::Cluster))),
        ("fence.proxy.alias;", Fence::Proxy(ProxyFence::Alias)),
        ("fence.proxy.async.shared::cta;", Fence::Proxy(ProxyFence::Async)),
        (
            "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;",
            Fence::Proxy(ProxyFence::TensorMap(Order::Acquire(Scope::Gpu))),
        ),
        (
            "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
            Fence::Proxy(ProxyFence::AsyncGeneric(Order::Acquire(Scope::Cluster))),
        ),
        ("fence.mbarrier_init.release.cluster;", Fence::BarrierInit),
    ];
    for (statement, wanted) in cases {
        assert_eq!(operation(statement), Operation::Fence(wanted), "{statement}");
    }
}

#[test]
fn shuffles() {
    let (body, found) = read("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, %r3;");
    let wanted = Shuffle {
        mode: ShuffleMode::Butterfly,
        destination: register(&body, "%r1"),
        in_range: Some(register(&body, "%p1")),
        value: source(&body, "%r2"),
        lane: immediate(T::U32, 16),
        clamp: immediate(T::U32, 31),
        mask: Some(source(&body, "%r3")),
    };
    assert_eq!(found, Operation::Shuffle(wanted));
    for (statement, mode) in [
        ("shfl.sync.up.b32 %r1, %r2, 1, 0, -1;", ShuffleMode::Up),
        ("shfl.sync.down.b32 %f1, %f2, 1, 31, -1;", ShuffleMode::Down),
        ("shfl.sync.idx.b32 %r1, %r2, %r3, %r4, %r5;", ShuffleMode::Index),
    ] {
        let found = operation(statement);
        assert!(matches!(found, Operation::Shuffle(it) if it.mode == mode && it.in_range.is_none()), "{statement}");
    }
    let old = old_operation("shfl.up.b32 %r1, %r2, 1, 0;");
    assert!(matches!(old, Operation::Shuffle(Shuffle { mask: None, .. })));
}

#[test]
fn votes_and_matches() {
    let cases = [
        ("vote.sync.all.pred %p1, !%p2, %r1;", VoteMode::All, "%p1"),
        ("vote.sync.any.pred %p1, !%p2, %r1;", VoteMode::Any, "%p1"),
        ("vote.sync.uni.pred %p1, !%p2, %r1;", VoteMode::Uniform, "%p1"),
        ("vote.sync.ballot.b32 %r2, !%p2, %r1;", VoteMode::Ballot, "%r2"),
    ];
    for (statement, mode, destination) in cases {
        let (body, found) = read(statement);
        let wanted = Vote {
            mode,
            destination: register(&body, destination),
            predicate: predicate(&body, "%p2", true),
            mask: Some(source(&body, "%r1")),
        };
        assert_eq!(found, Operation::Vote(wanted), "{statement}");
    }
    assert!(matches!(old_operation("vote.all.pred %p1, %p2;"), Operation::Vote(Vote { mask: None, .. })));

    let (body, found) = read("match.all.sync.b64 _|%p1, %d2, -1;");
    let wanted = Match {
        ty: BitType::B64,
        all: true,
        destination: None,
        same: Some(register(&body, "%p1")),
        value: source(&body, "%d2"),
        mask: immediate(T::B32, 0xFFFF_FFFF),
    };
    assert_eq!(found, Operation::Match(wanted));
    let any = operation("match.any.sync.b32 %r1, %r2, -1;");
    assert!(matches!(any, Operation::Match(Match { all: false, same: None, ty: BitType::B32, .. })));
}

#[test]
fn reductions_of_a_warp() {
    let cases = [
        ("redux.sync.add.s32 %r1, %r2, %r3;", Reduction::Add(IntegerType::S32)),
        ("redux.sync.min.u32 %r1, %r2, %r3;", Reduction::Min(IntegerType::U32)),
        ("redux.sync.max.s32 %r1, %r2, %r3;", Reduction::Max(IntegerType::S32)),
        ("redux.sync.and.b32 %r1, %r2, %r3;", Reduction::And),
        ("redux.sync.or.b32 %r1, %r2, %r3;", Reduction::Or),
        ("redux.sync.xor.b32 %r1, %r2, %r3;", Reduction::Xor),
        ("redux.sync.min.abs.NaN.f32 %r1, %r2, %r3;", Reduction::FloatMin { abs: true, nan: true }),
        ("redux.sync.max.f32 %r1, %r2, %r3;", Reduction::FloatMax { abs: false, nan: false }),
    ];
    for (statement, reduction) in cases {
        let (body, found) = read(statement);
        let (value, mask) = (source(&body, "%r2"), source(&body, "%r3"));
        let wanted = WarpReduce { reduction, destination: register(&body, "%r1"), value, mask };
        assert_eq!(found, Operation::WarpReduce(wanted), "{statement}");
    }
}

#[test]
fn who_is_here_and_who_leads() {
    let (body, found) = read("activemask.b32 %r1;");
    assert_eq!(found, Operation::ActiveMask { destination: register(&body, "%r1") });
    let (body, found) = read("elect.sync _|%p1, %r2;");
    let wanted = Operation::Elect { lane: None, chosen: register(&body, "%p1"), mask: source(&body, "%r2") };
    assert_eq!(found, wanted);
}
