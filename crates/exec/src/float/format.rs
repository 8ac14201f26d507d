//! The formats of numbers, as bits.

use peermap_ptx::{FloatType, ScalarType};

/// A format of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Format {
    F16,
    Bf16,
    F32,
    F64,
}

impl Format {
    /// All of them, each at its own number.
    pub(crate) const ALL: [Self; 4] = [Self::F16, Self::Bf16, Self::F32, Self::F64];

    /// The format of each number of a type.
    pub(crate) fn of(ty: FloatType) -> Self {
        match ty.element() {
            FloatType::F64 => Self::F64,
            FloatType::F16 | FloatType::F16x2 => Self::F16,
            FloatType::Bf16 | FloatType::Bf16x2 => Self::Bf16,
            FloatType::F32 | FloatType::F32x2 => Self::F32,
        }
    }

    /// The format of a type of one number.
    pub(crate) fn of_scalar(ty: ScalarType) -> Option<Self> {
        FloatType::of(ty).filter(|ty| !ty.is_packed()).map(Self::of)
    }

    /// How wide it is.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// How many bits follow the exponent.
    pub(crate) fn fraction_bits(self) -> u32 {
        match self {
            Self::F16 => 10,
            Self::Bf16 => 7,
            Self::F32 => 23,
            Self::F64 => 52,
        }
    }

    /// The exponent of 1.0 as it is written.
    pub(crate) fn bias(self) -> u64 {
        self.infinity() >> self.fraction_bits() >> 1
    }

    pub(crate) fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// All bits but the sign.
    pub(crate) fn magnitude(self) -> u64 {
        self.sign() - 1
    }

    /// Infinity, which is also the mask of the exponent.
    pub(crate) fn infinity(self) -> u64 {
        self.magnitude() & (u64::MAX << self.fraction_bits())
    }

    /// The bit that tells a quiet NaN.
    pub(crate) fn quiet(self) -> u64 {
        1 << (self.fraction_bits() - 1)
    }

    /// The smallest number that is not subnormal.
    pub(crate) fn smallest_normal(self) -> u64 {
        1 << self.fraction_bits()
    }

    pub(crate) fn one(self) -> u64 {
        self.bias() << self.fraction_bits()
    }

    /// The NaN that the hardware makes where no operand is one.
    pub(crate) fn nan(self) -> u64 {
        match self {
            Self::F64 => self.sign() | self.infinity() | self.quiet(),
            _ => self.magnitude(),
        }
    }

    pub(crate) fn is_nan(self, number: u64) -> bool {
        number & self.magnitude() > self.infinity()
    }

    /// The number, or a zero of its sign if it is subnormal.
    pub(crate) fn flushed(self, number: u64) -> u64 {
        if number & self.infinity() == 0 { number & self.sign() } else { number }
    }
}
