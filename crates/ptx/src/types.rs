//! The types of values.

macro_rules! scalar_types {
    ($($variant:ident $directive:literal $size:literal)*) => {
        /// The type of one value, in a register or in memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is the directive of its name")]
        pub enum ScalarType { $($variant),* }

        impl ScalarType {
            /// The type that a directive such as `.u64` names.
            #[must_use]
            pub fn from_directive(directive: &str) -> Option<Self> {
                match directive { $($directive => Some(Self::$variant),)* _ => None }
            }

            /// The directive, with its dot.
            #[must_use]
            pub fn directive(self) -> &'static str {
                match self { $(Self::$variant => $directive),* }
            }

            /// How many bytes a value takes, which is its alignment too. A predicate never lies in memory and takes one.
            #[must_use]
            pub fn size(self) -> u32 {
                match self { $(Self::$variant => $size),* }
            }
        }
    };
}

scalar_types! {
    B8 ".b8" 1  B16 ".b16" 2  B32 ".b32" 4  B64 ".b64" 8  B128 ".b128" 16
    U8 ".u8" 1  U16 ".u16" 2  U32 ".u32" 4  U64 ".u64" 8
    S8 ".s8" 1  S16 ".s16" 2  S32 ".s32" 4  S64 ".s64" 8
    F16 ".f16" 2  F32 ".f32" 4  F64 ".f64" 8
    F16x2 ".f16x2" 4  Bf16 ".bf16" 2  Bf16x2 ".bf16x2" 4  Tf32 ".tf32" 4  F32x2 ".f32x2" 8
    U16x2 ".u16x2" 4  S16x2 ".s16x2" 4
    Pred ".pred" 1
}

/// What a type says about its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeClass {
    /// Bits without a meaning: `.b32`.
    Bits,
    /// An unsigned integer, or two of them.
    Unsigned,
    /// A signed integer, or two of them.
    Signed,
    /// A floating-point number, or two of them.
    Float,
    /// A predicate.
    Predicate,
}

impl ScalarType {
    /// How many bits a value has; one for a predicate.
    #[must_use]
    pub fn bits(self) -> u32 {
        if self == Self::Pred { 1 } else { 8 * self.size() }
    }

    /// What its bits mean.
    #[must_use]
    pub fn class(self) -> TypeClass {
        match self {
            Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => TypeClass::Bits,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::U16x2 => TypeClass::Unsigned,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 | Self::S16x2 => TypeClass::Signed,
            Self::Pred => TypeClass::Predicate,
            _ => TypeClass::Float,
        }
    }

    /// Whether it is a signed integer.
    #[must_use]
    pub fn is_signed(self) -> bool {
        self.class() == TypeClass::Signed
    }

    /// Whether it is a floating-point type.
    #[must_use]
    pub fn is_float(self) -> bool {
        self.class() == TypeClass::Float
    }

    /// Whether variables and parameters can have it: not the formats that live in untyped registers only.
    #[must_use]
    pub fn is_fundamental(self) -> bool {
        use ScalarType::{Bf16, Bf16x2, F32x2, Pred, S16x2, Tf32, U16x2};
        !matches!(self, Bf16 | Bf16x2 | Tf32 | F32x2 | U16x2 | S16x2 | Pred)
    }
}

macro_rules! subset {
    ($(#[$doc:meta])* $name:ident: $($variant:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is the scalar type of its name")]
        pub enum $name { $($variant),* }

        impl $name {
            /// The same type among all.
            #[must_use]
            pub fn scalar(self) -> ScalarType {
                match self { $(Self::$variant => ScalarType::$variant),* }
            }

            /// The same type here, if it is one of these.
            #[must_use]
            pub fn of(scalar: ScalarType) -> Option<Self> {
                match scalar { $(ScalarType::$variant => Some(Self::$variant),)* _ => None }
            }

            /// How many bits a value has.
            #[must_use]
            pub fn bits(self) -> u32 {
                self.scalar().bits()
            }
        }
    };
}

subset! {
    /// A type of integer arithmetic.
    IntegerType: U16 S16 U32 S32 U64 S64 U16x2 S16x2
}
subset! {
    /// A type of floating-point arithmetic.
    FloatType: F16 F16x2 Bf16 Bf16x2 F32 F32x2 F64
}
subset! {
    /// A width of logic and shifts; `Pred` where predicates may stand too.
    BitType: Pred B16 B32 B64
}

impl IntegerType {
    /// Whether values have a sign.
    #[must_use]
    pub fn is_signed(self) -> bool {
        self.scalar().is_signed()
    }

    /// Whether a value is two integers side by side.
    #[must_use]
    pub fn is_packed(self) -> bool {
        matches!(self, Self::U16x2 | Self::S16x2)
    }
}

impl FloatType {
    /// Whether a value is two numbers side by side.
    #[must_use]
    pub fn is_packed(self) -> bool {
        self.element() != self
    }

    /// The type of each number of a value.
    #[must_use]
    pub fn element(self) -> Self {
        match self {
            Self::F16x2 => Self::F16,
            Self::Bf16x2 => Self::Bf16,
            Self::F32x2 => Self::F32,
            single => single,
        }
    }
}
