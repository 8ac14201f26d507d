//! The names of special registers.

use super::syntax::Name;
use crate::special::{Axis, SpecialRegister};
use crate::types::ScalarType;

/// The special register of this name and the type that it has.
pub(super) fn of(name: Name<'_>) -> Option<(SpecialRegister, ScalarType)> {
    if name.offset != 0 {
        return None;
    }
    let text = name.text.strip_prefix('%')?;
    match name.component {
        Some(component) => with_axis(text, axis(component)?),
        None => wide(text).or_else(|| narrow(text)).or_else(|| numbered(text)),
    }
}

/// Whether a special register has this name, with a component or without.
pub(crate) fn is_name(text: &str) -> bool {
    let with = |component| of(Name { text, component, offset: 0 }).is_some();
    with(None) || with(Some(".x"))
}

fn axis(component: &str) -> Option<Axis> {
    Some(match component {
        ".x" => Axis::X,
        ".y" => Axis::Y,
        ".z" => Axis::Z,
        ".w" => Axis::W,
        _ => return None,
    })
}

fn with_axis(text: &str, axis: Axis) -> Option<(SpecialRegister, ScalarType)> {
    let special = match text {
        "tid" => SpecialRegister::Tid(axis),
        "ntid" => SpecialRegister::Ntid(axis),
        "ctaid" => SpecialRegister::Ctaid(axis),
        "nctaid" => SpecialRegister::Nctaid(axis),
        "clusterid" => SpecialRegister::ClusterId(axis),
        "nclusterid" => SpecialRegister::NclusterId(axis),
        "cluster_ctaid" => SpecialRegister::ClusterCtaid(axis),
        "cluster_nctaid" => SpecialRegister::ClusterNctaid(axis),
        _ => return None,
    };
    Some((special, ScalarType::B32))
}

fn wide(text: &str) -> Option<(SpecialRegister, ScalarType)> {
    Some(match text {
        "clock64" => (SpecialRegister::Clock64, ScalarType::B64),
        "globaltimer" => (SpecialRegister::GlobalTimer, ScalarType::B64),
        "gridid" => (SpecialRegister::GridId, ScalarType::B64),
        "current_graph_exec" => (SpecialRegister::CurrentGraphExec, ScalarType::B64),
        "is_explicit_cluster" => (SpecialRegister::IsExplicitCluster, ScalarType::Pred),
        _ => return None,
    })
}

fn narrow(text: &str) -> Option<(SpecialRegister, ScalarType)> {
    let special = match text {
        "cluster_ctarank" => SpecialRegister::ClusterCtarank,
        "cluster_nctarank" => SpecialRegister::ClusterNctarank,
        "laneid" => SpecialRegister::LaneId,
        "warpid" => SpecialRegister::WarpId,
        "nwarpid" => SpecialRegister::NwarpId,
        "smid" => SpecialRegister::SmId,
        "nsmid" => SpecialRegister::NsmId,
        "lanemask_eq" => SpecialRegister::LanemaskEq,
        "lanemask_le" => SpecialRegister::LanemaskLe,
        "lanemask_lt" => SpecialRegister::LanemaskLt,
        "lanemask_ge" => SpecialRegister::LanemaskGe,
        "lanemask_gt" => SpecialRegister::LanemaskGt,
        "clock" => SpecialRegister::Clock,
        "clock_hi" => SpecialRegister::ClockHi,
        "globaltimer_lo" => SpecialRegister::GlobalTimerLow,
        "globaltimer_hi" => SpecialRegister::GlobalTimerHigh,
        "dynamic_smem_size" => SpecialRegister::DynamicSharedSize,
        "total_smem_size" => SpecialRegister::TotalSharedSize,
        "aggr_smem_size" => SpecialRegister::AggregateSharedSize,
        "reserved_smem_offset_begin" => SpecialRegister::ReservedShared(0),
        "reserved_smem_offset_end" => SpecialRegister::ReservedShared(1),
        "reserved_smem_offset_cap" => SpecialRegister::ReservedShared(2),
        "reserved_smem_offset_0" => SpecialRegister::ReservedShared(3),
        "reserved_smem_offset_1" => SpecialRegister::ReservedShared(4),
        _ => return None,
    };
    Some((special, ScalarType::B32))
}

/// `%envreg<32>`, `%pm<8>` and `%pm<8>_64`.
fn numbered(text: &str) -> Option<(SpecialRegister, ScalarType)> {
    let below = |digits: &str, most: u8| digits.parse().ok().filter(|number| *number < most);
    if let Some(digits) = text.strip_prefix("envreg") {
        return below(digits, 32).map(|number| (SpecialRegister::Envreg(number), ScalarType::B32));
    }
    let rest = text.strip_prefix("pm")?;
    match rest.strip_suffix("_64") {
        Some(digits) => below(digits, 8).map(|number| (SpecialRegister::PerformanceMonitor64(number), ScalarType::B64)),
        None => below(rest, 8).map(|number| (SpecialRegister::PerformanceMonitor(number), ScalarType::B32)),
    }
}
