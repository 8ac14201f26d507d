//! What computes one result from values and touches nothing else.

use super::modifiers::{FloatTest, Permute, Precision, Rounding, StateSpace};
use crate::operand::{PredicateSource, RegisterId, Sink, Source};
use crate::types::{BitType, FloatType, IntegerType};

/// Which part of a product counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// `.lo`: the low half.
    Low,
    /// `.hi`: the high half.
    High,
    /// `.wide`: all of it, twice as wide as the factors.
    Wide,
}

/// A function that is approximated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transcendental {
    /// `rsqrt`: one through the root.
    ReciprocalSqrt,
    /// `sin`, in radians.
    Sin,
    /// `cos`, in radians.
    Cos,
    /// `lg2`.
    Log2,
    /// `ex2`.
    Exp2,
    /// `tanh`.
    Tanh,
}

/// How the smaller or the larger of two numbers is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatMinMax {
    /// The type.
    pub ty: FloatType,
    /// `.ftz`: subnormal numbers count as zero of their sign.
    pub ftz: bool,
    /// `.NaN`: the result is NaN if any number is; else the other number counts.
    pub nan: bool,
    /// `.abs`: the absolute values count.
    pub abs: bool,
    /// `.xorsign`, always with `.abs`: the result has the product of the signs.
    pub xorsign: bool,
}

/// A function of one value. `ftz`, wherever it stands: subnormal numbers, read or made, are zero of their sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are modifiers, named as they are written")]
pub enum UnaryOp {
    /// `neg` of integers.
    Neg(IntegerType),
    /// `abs` of integers.
    Abs(IntegerType),
    /// `not`.
    Not(BitType),
    /// `cnot`: one if all bits are zero, else zero.
    LogicalNot(BitType),
    /// `popc`, a `U32`.
    PopCount(BitType),
    /// `clz`, a `U32`.
    LeadingZeros(BitType),
    /// `brev`.
    ReverseBits(BitType),
    /// `bfind`, a `U32`: the highest bit that differs from the sign, `0xffff_ffff` if none does. With `shift_amount`:
    /// how far to shift it to the top.
    FindLeading { ty: IntegerType, shift_amount: bool },
    /// `neg` of numbers.
    FloatNeg { ty: FloatType, ftz: bool },
    /// `abs` of numbers.
    FloatAbs { ty: FloatType, ftz: bool },
    /// `rcp`.
    Reciprocal { ty: FloatType, precision: Precision, ftz: bool },
    /// `sqrt`.
    Sqrt { ty: FloatType, precision: Precision, ftz: bool },
    /// `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`, all approximate.
    Transcendental { function: Transcendental, ty: FloatType, ftz: bool },
    /// `testp`, a predicate.
    Test { test: FloatTest, ty: FloatType },
    /// `cvta`: an address in the space to a generic one.
    ToGeneric { space: StateSpace, bits: u32 },
    /// `cvta.to`: a generic address to one in the space.
    FromGeneric { space: StateSpace, bits: u32 },
    /// `isspacep`, a predicate: whether a generic address lies in the space.
    IsSpace(StateSpace),
    /// `getctarank`, a `U32`: the number in its cluster of the block that an address in `Generic` or `SharedCluster`
    /// belongs to.
    CtaRank { space: StateSpace, bits: u32 },
}

/// A function of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are modifiers, named as they are written")]
pub enum BinaryOp {
    /// `add` of integers; saturated is for `S32`.
    Add { ty: IntegerType, saturate: bool },
    /// `sub` of integers; saturated is for `S32`.
    Sub { ty: IntegerType, saturate: bool },
    /// `mul` of integers.
    Mul { ty: IntegerType, half: Half },
    /// `mul24`: of the low 24 bits; `High` is bits 47 to 16 of the product.
    Mul24 { ty: IntegerType, half: Half },
    /// `div` of integers, towards zero.
    Div(IntegerType),
    /// `rem` of integers, with the sign of the first.
    Rem(IntegerType),
    /// `min` of integers; `relu`: at least zero.
    Min { ty: IntegerType, relu: bool },
    /// `max` of integers; `relu`: at least zero.
    Max { ty: IntegerType, relu: bool },
    /// `and`.
    And(BitType),
    /// `or`.
    Or(BitType),
    /// `xor`.
    Xor(BitType),
    /// `shl`. The amount is a `U32`; what is more than the width counts as the width.
    ShiftLeft(BitType),
    /// `shr`, with the sign for signed types. The amount is a `U32`; what is more than the width counts as the width.
    ShiftRight(IntegerType),
    /// `bmsk`: `b` ones from bit `a` on; `clamp` or else modulo 32.
    BitMask { clamp: bool },
    /// `szext`: `a` as an integer of `b` bits, to 32; `clamp` or else modulo 32.
    Extend { ty: IntegerType, clamp: bool },
    /// `add` of numbers. `from`: the type of `a`, if it is another than `ty`.
    FloatAdd { ty: FloatType, from: Option<FloatType>, rounding: Rounding, ftz: bool, saturate: bool },
    /// `sub` of numbers. `from`: the type of `a`, if it is another than `ty`.
    FloatSub { ty: FloatType, from: Option<FloatType>, rounding: Rounding, ftz: bool, saturate: bool },
    /// `mul` of numbers.
    FloatMul { ty: FloatType, rounding: Rounding, ftz: bool, saturate: bool },
    /// `div` of numbers.
    FloatDiv { ty: FloatType, precision: Precision, ftz: bool },
    /// `min` of numbers.
    FloatMin(FloatMinMax),
    /// `max` of numbers.
    FloatMax(FloatMinMax),
    /// `copysign`: the sign of `a` with the rest of `b`.
    CopySign(FloatType),
    /// `mapa`: the address that `a`, of `bits` bits and in `Generic` or `SharedCluster`, has in block `b`, a `U32`.
    MapAddress { space: StateSpace, bits: u32 },
}

/// A function of three values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are modifiers, named as they are written")]
pub enum TernaryOp {
    /// `mad` of integers: `a * b + c`. With `Wide`, `c` is twice as wide too. Saturated is for `High` and `S32`.
    Mad { ty: IntegerType, half: Half, saturate: bool },
    /// `mad24`: the product as in `Mul24`.
    Mad24 { ty: IntegerType, half: Half, saturate: bool },
    /// `sad`: `c + |a - b|`.
    SumOfDifferences(IntegerType),
    /// `fma`, and `mad` of numbers, which is the same on every device of ours. `from`: the type of `a` and `b`, if it
    /// is another than `ty`. `relu`: at least zero, and NaN becomes the canonical one. `oob`: NaN where `a` or `b`
    /// is the NaN that stands for "out of bounds".
    Fma { ty: FloatType, from: Option<FloatType>, rounding: Rounding, ftz: bool, saturate: bool, relu: bool, oob: bool },
    /// `min` of three numbers.
    FloatMin3(FloatMinMax),
    /// `max` of three numbers.
    FloatMax3(FloatMinMax),
    /// `bfe`: `c` bits of `a` from bit `b` on; of both the low 8 bits of a `U32` count.
    ExtractBits(IntegerType),
    /// `fns`, a `U32`: the `c`-th bit that is set in `a` from bit `b` on, upwards or, if `c` is negative, downwards.
    FindNthSet,
    /// `prmt`: bytes of `a` and `b`, picked by `c`.
    Permute(Permute),
    /// `shf.l`: the high half of `b:a` shifted left by `c`; `wrap`: modulo 32, else at most 32.
    FunnelLeft { wrap: bool },
    /// `shf.r`: the low half of `b:a` shifted right by `c`; `wrap`: modulo 32, else at most 32.
    FunnelRight { wrap: bool },
    /// `selp`: `a` if the predicate `c` is true, else `b`; of so many bits.
    Select { bits: u32 },
    /// `slct` on an `S32`: `a` if `c` is at least zero, else `b`; of so many bits.
    SelectSigned { bits: u32 },
    /// `slct` on an `F32`: `a` if `c` is at least zero, else `b` (also for NaN); of so many bits.
    SelectFloat { bits: u32, ftz: bool },
    /// `dp4a`: `c` and the products of four bytes.
    Dot4 { a_signed: bool, b_signed: bool },
    /// `dp2a`: `c` and the products of the two halves of `a` with the lower or upper two bytes of `b`.
    Dot2 { a_signed: bool, b_signed: bool, upper: bool },
}

/// `lop3`: any function of three bits, bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lop3 {
    /// Bit `4a + 2b + c` of it is the result for `a`, `b`, `c`.
    pub table: u8,
    /// Where the result goes.
    pub destination: Sink,
    /// The first value.
    pub a: Source,
    /// The second.
    pub b: Source,
    /// The third.
    pub c: Source,
    /// The form with a predicate: `p = (result != 0) op q`.
    pub predicate: Option<Lop3Predicate>,
}

/// The predicate of a [`Lop3`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lop3Predicate {
    /// `.and` rather than `.or`.
    pub and: bool,
    /// Where it goes.
    pub destination: RegisterId,
    /// What it is joined with.
    pub with: PredicateSource,
}

/// An operation that reads or writes the carry flag. Each thread has one: it is a predicate register of the body that
/// no name in the text stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carry {
    /// What is computed.
    pub op: CarryOp,
    /// On which type.
    pub ty: IntegerType,
    /// The carry flag, if it is added (or, for `Sub`, subtracted).
    pub carry_in: Option<RegisterId>,
    /// The carry flag, if the carry (or borrow) goes there.
    pub carry_out: Option<RegisterId>,
    /// Where the result goes.
    pub destination: RegisterId,
    /// The first value.
    pub a: Source,
    /// The second.
    pub b: Source,
    /// What is added to the product; `None` for `Add` and `Sub`.
    pub c: Option<Source>,
}

/// What a [`Carry`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarryOp {
    /// `add.cc`, `addc`.
    Add,
    /// `sub.cc`, `subc`.
    Sub,
    /// `mad.lo.cc`, `madc.lo`.
    MadLow,
    /// `mad.hi.cc`, `madc.hi`.
    MadHigh,
}
