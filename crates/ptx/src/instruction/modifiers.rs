//! Modifiers that several instructions have.

/// How a result is rounded to its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`: to nearest, ties to even.
    NearestEven,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: down.
    Down,
    /// `.rp`: up.
    Up,
}

/// How exact a division, a root or a reciprocal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `.approx`: within the bound of the manual.
    Approximate,
    /// `.full`: a division within 2 ulp over the whole range.
    Full,
    /// Exact, then rounded so.
    Rounded(Rounding),
}

/// What `testp` asks of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the tests")]
pub enum FloatTest {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// How `prmt` picks bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permute {
    /// Four selectors of four bits each: a byte, or its sign eight times.
    Default,
    /// `.f4e`: four bytes, forward.
    Forward4,
    /// `.b4e`: four bytes, backward.
    Backward4,
    /// `.rc8`: one byte four times.
    Replicate8,
    /// `.ecl`: clamped from the left.
    ClampLeft,
    /// `.ecr`: clamped from the right.
    ClampRight,
    /// `.rc16`: two bytes twice.
    Replicate16,
}

/// A window of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateSpace {
    /// None named: the address itself tells.
    Generic,
    /// `.global`.
    Global,
    /// `.shared` or `.shared::cta`: that of the block.
    Shared,
    /// `.shared::cluster`: that of any block of the cluster.
    SharedCluster,
    /// `.local`.
    Local,
    /// `.const`.
    Const,
    /// `.param` of an entry (`.param::entry`): what the launch was given.
    ParamEntry,
    /// `.param` of a function (`.param::func`): arguments and returned values, of callers and callees.
    ParamFunction,
}

/// Which threads an order holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `.cta`: those of the block.
    Cta,
    /// `.cluster`: those of the cluster.
    Cluster,
    /// `.gpu`: those of the device.
    Gpu,
    /// `.sys`: all, also on other devices and on the host.
    Sys,
}

/// How a memory operation is ordered with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `.weak`: no order.
    Weak,
    /// `.volatile`: as `.relaxed` with scope system, and never left out.
    Volatile,
    /// `.relaxed`: seen whole, without an order.
    Relaxed(Scope),
    /// `.acquire`.
    Acquire(Scope),
    /// `.release`.
    Release(Scope),
    /// `.acq_rel`.
    AcquireRelease(Scope),
    /// `.mmio.relaxed.sys`: exactly once, for devices.
    Mmio,
}
