//! Comparisons.

use crate::operand::{PredicateSource, RegisterId, Sink, Source};
use crate::types::ScalarType;

/// A relation of two values. The unsigned spellings `.lo`, `.ls`, `.hi` and `.hs` are `Less` to `GreaterEqual` on an
/// unsigned type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `.eq`, false with NaN.
    Equal,
    /// `.ne`, false with NaN.
    NotEqual,
    /// `.lt`, false with NaN.
    Less,
    /// `.le`, false with NaN.
    LessEqual,
    /// `.gt`, false with NaN.
    Greater,
    /// `.ge`, false with NaN.
    GreaterEqual,
    /// `.equ`, true with NaN.
    EqualOrUnordered,
    /// `.neu`, true with NaN.
    NotEqualOrUnordered,
    /// `.ltu`, true with NaN.
    LessOrUnordered,
    /// `.leu`, true with NaN.
    LessEqualOrUnordered,
    /// `.gtu`, true with NaN.
    GreaterOrUnordered,
    /// `.geu`, true with NaN.
    GreaterEqualOrUnordered,
    /// `.num`: neither is NaN.
    Ordered,
    /// `.nan`: one is NaN, or both.
    Unordered,
}

/// How two predicates are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the operations")]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// What the outcome of a comparison is joined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combine {
    /// How.
    pub op: BoolOp,
    /// With which predicate.
    pub with: PredicateSource,
}

/// `setp`. For a packed type, `p` is of the low halves and `q` of the high ones; else `q` is of the contrary relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetPredicate {
    /// The relation.
    pub comparison: Comparison,
    /// The type of what is compared.
    pub ty: ScalarType,
    /// Subnormal numbers count as zero.
    pub ftz: bool,
    /// What the outcome (and the contrary one) is joined with.
    pub combine: Option<Combine>,
    /// Where the outcome goes.
    pub p: Sink,
    /// Where the second outcome goes.
    pub q: Sink,
    /// The first value.
    pub a: Source,
    /// The second.
    pub b: Source,
}

/// `set`: the outcome as a number. True is `1.0` for a float, all ones for an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// The relation.
    pub comparison: Comparison,
    /// The type of what is compared.
    pub ty: ScalarType,
    /// The type of the result.
    pub to: ScalarType,
    /// Subnormal numbers count as zero.
    pub ftz: bool,
    /// What the outcome is joined with.
    pub combine: Option<Combine>,
    /// Where the result goes.
    pub destination: RegisterId,
    /// The first value.
    pub a: Source,
    /// The second.
    pub b: Source,
}
