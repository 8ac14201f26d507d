//! Special registers.

use std::fmt;

/// A component of a special register of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
    /// The fourth, which is always zero.
    W,
}

/// A register that the machine sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialRegister {
    /// `%tid`: the thread in its block.
    Tid(Axis),
    /// `%ntid`: the threads of a block.
    Ntid(Axis),
    /// `%ctaid`: the block in the grid.
    Ctaid(Axis),
    /// `%nctaid`: the blocks of the grid.
    Nctaid(Axis),
    /// `%clusterid`: the cluster in the grid.
    ClusterId(Axis),
    /// `%nclusterid`: the clusters of the grid.
    NclusterId(Axis),
    /// `%cluster_ctaid`: the block in its cluster.
    ClusterCtaid(Axis),
    /// `%cluster_nctaid`: the blocks of a cluster.
    ClusterNctaid(Axis),
    /// `%cluster_ctarank`: the number of the block in its cluster.
    ClusterCtarank,
    /// `%cluster_nctarank`: how many blocks a cluster has.
    ClusterNctarank,
    /// `%is_explicit_cluster`: a predicate, whether the launch asked for clusters.
    IsExplicitCluster,
    /// `%laneid`: the thread in its warp.
    LaneId,
    /// `%warpid`: the warp in its block; it may change.
    WarpId,
    /// `%nwarpid`: the most warps that a multiprocessor numbers.
    NwarpId,
    /// `%smid`: the multiprocessor.
    SmId,
    /// `%nsmid`: the most multiprocessors, not without gaps.
    NsmId,
    /// `%gridid`: the launch, in 64 bits.
    GridId,
    /// `%lanemask_eq`: the bit of this thread in its warp.
    LanemaskEq,
    /// `%lanemask_le`: the bits up to that of this thread.
    LanemaskLe,
    /// `%lanemask_lt`: the bits below that of this thread.
    LanemaskLt,
    /// `%lanemask_ge`: the bits from that of this thread on.
    LanemaskGe,
    /// `%lanemask_gt`: the bits above that of this thread.
    LanemaskGt,
    /// `%clock`: the low half of a counter of cycles.
    Clock,
    /// `%clock_hi`: its high half.
    ClockHi,
    /// `%clock64`: the counter.
    Clock64,
    /// `%globaltimer`: nanoseconds.
    GlobalTimer,
    /// `%globaltimer_lo`: its low half.
    GlobalTimerLow,
    /// `%globaltimer_hi`: its high half.
    GlobalTimerHigh,
    /// `%dynamic_smem_size`: the bytes of shared memory that the launch added.
    DynamicSharedSize,
    /// `%total_smem_size`: all bytes of shared memory of a block, as they are set aside.
    TotalSharedSize,
    /// `%aggr_smem_size`: all of them with those that the system takes.
    AggregateSharedSize,
    /// `%reserved_smem_offset_begin`, `_end`, `_cap` and the two numbered ones, by their number from 0.
    ReservedShared(u8),
    /// `%current_graph_exec`: the graph that the kernel runs in, 0 for none.
    CurrentGraphExec,
    /// `%envreg<n>`: a register whose meaning the driver gives.
    Envreg(u8),
    /// `%pm<n>`: a performance counter of 32 bits.
    PerformanceMonitor(u8),
    /// `%pm<n>_64`: a performance counter of 64 bits.
    PerformanceMonitor64(u8),
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Z => "z",
            Self::W => "w",
        })
    }
}

/// As PTX writes it.
impl fmt::Display for SpecialRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tid(axis) => write!(f, "%tid.{axis}"),
            Self::Ntid(axis) => write!(f, "%ntid.{axis}"),
            Self::Ctaid(axis) => write!(f, "%ctaid.{axis}"),
            Self::Nctaid(axis) => write!(f, "%nctaid.{axis}"),
            Self::ClusterId(axis) => write!(f, "%clusterid.{axis}"),
            Self::NclusterId(axis) => write!(f, "%nclusterid.{axis}"),
            Self::ClusterCtaid(axis) => write!(f, "%cluster_ctaid.{axis}"),
            Self::ClusterNctaid(axis) => write!(f, "%cluster_nctaid.{axis}"),
            Self::ClusterCtarank => f.write_str("%cluster_ctarank"),
            Self::ClusterNctarank => f.write_str("%cluster_nctarank"),
            Self::IsExplicitCluster => f.write_str("%is_explicit_cluster"),
            Self::LaneId => f.write_str("%laneid"),
            Self::WarpId => f.write_str("%warpid"),
            Self::NwarpId => f.write_str("%nwarpid"),
            Self::SmId => f.write_str("%smid"),
            Self::NsmId => f.write_str("%nsmid"),
            Self::GridId => f.write_str("%gridid"),
            Self::LanemaskEq => f.write_str("%lanemask_eq"),
            Self::LanemaskLe => f.write_str("%lanemask_le"),
            Self::LanemaskLt => f.write_str("%lanemask_lt"),
            Self::LanemaskGe => f.write_str("%lanemask_ge"),
            Self::LanemaskGt => f.write_str("%lanemask_gt"),
            Self::Clock => f.write_str("%clock"),
            Self::ClockHi => f.write_str("%clock_hi"),
            Self::Clock64 => f.write_str("%clock64"),
            Self::GlobalTimer => f.write_str("%globaltimer"),
            Self::GlobalTimerLow => f.write_str("%globaltimer_lo"),
            Self::GlobalTimerHigh => f.write_str("%globaltimer_hi"),
            Self::DynamicSharedSize => f.write_str("%dynamic_smem_size"),
            Self::TotalSharedSize => f.write_str("%total_smem_size"),
            Self::AggregateSharedSize => f.write_str("%aggr_smem_size"),
            Self::ReservedShared(0) => f.write_str("%reserved_smem_offset_begin"),
            Self::ReservedShared(1) => f.write_str("%reserved_smem_offset_end"),
            Self::ReservedShared(2) => f.write_str("%reserved_smem_offset_cap"),
            Self::ReservedShared(number) => write!(f, "%reserved_smem_offset_{}", number - 3),
            Self::CurrentGraphExec => f.write_str("%current_graph_exec"),
            Self::Envreg(number) => write!(f, "%envreg{number}"),
            Self::PerformanceMonitor(number) => write!(f, "%pm{number}"),
            Self::PerformanceMonitor64(number) => write!(f, "%pm{number}_64"),
        }
    }
}
