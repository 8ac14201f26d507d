//! Conversions.

use super::modifiers::Rounding;
use crate::operand::{RegisterId, Source};
use crate::types::ScalarType;

/// How a value becomes one of another type.
///
/// A destination wider than `to` receives the result extended: with its sign for signed types, else with zeros. A
/// source wider than `from` is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The type of the result.
    pub to: ScalarType,
    /// The type of the value; of each value if there are two.
    pub from: ScalarType,
    /// How a float is rounded that the result cannot hold. `None` where
    /// every value fits, and between integers.
    pub rounding: Option<Rounding>,
    /// `.rni`, `.rzi`, `.rmi`, `.rpi`: the rounded value is a whole number, whatever the type.
    pub integral: bool,
    /// Subnormal `F32` read or made are zero.
    pub ftz: bool,
    /// Cut off at the ends of the range of `to`; for a float at 0.0 and 1.0. (A float becomes an integer so in any
    /// case.)
    pub saturate: bool,
    /// Negative results are zero, and NaN is the canonical one.
    pub relu: bool,
    /// Results too large are the largest finite one.
    pub satfinite: bool,
}

/// `cvt.pack.sat`: two `S32` cut off at the range of a small type, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CvtPack {
    /// The small type.
    pub to: CvtPackTo,
    /// Where the result goes, 32 bits.
    pub destination: RegisterId,
    /// The upper of the two.
    pub a: Source,
    /// The lower of the two.
    pub b: Source,
    /// For types under 16 bits: what is shifted up to make room for the two.
    pub c: Option<Source>,
}

/// The small type of a [`CvtPack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the types")]
pub enum CvtPackTo {
    U16,
    S16,
    U8,
    S8,
    U4,
    S4,
    U2,
    S2,
}
