//! What instructions work on.

use crate::special::SpecialRegister;
use crate::types::ScalarType;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The same number as an index.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )* };
}

ids! {
    /// A register: an index into [`Body::registers`](crate::Body::registers).
    RegisterId
    /// An instruction, as the target of a branch: an index into [`Body::instructions`](crate::Body::instructions). It
    /// may be their number, which is the end of the body and means `ret`.
    InstructionId
    /// A variable of one call: an index into [`Body::locals`](crate::Body::locals).
    LocalId
    /// A place in the source that the PTX was made of: an index into [`Body::locations`](crate::Body::locations).
    LocationId
    /// A variable with a place of its own: an index into [`Module::variables`](crate::Module::variables).
    VariableId
    /// A function: an index into [`Module::functions`](crate::Module::functions).
    FunctionId
    /// An entry: an index into [`Module::entries`](crate::Module::entries).
    EntryId
}

/// A value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// What the register holds. It may be wider than the instruction reads where PTX allows that: the low bits count.
    Register(RegisterId),
    /// A constant.
    Immediate(Immediate),
}

/// A constant, already in the form of the type that the instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Immediate {
    /// What it is read as.
    pub ty: ScalarType,
    /// Its bits: the low ones of the width of `ty`, the others are zero. A floating-point constant is rounded to `ty`.
    pub bits: u64,
}

/// A predicate that is read, perhaps the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredicateSource {
    /// A predicate register, or a constant of type `Pred`.
    pub value: Source,
    /// Whether `!` stands before it.
    pub negated: bool,
}

/// `@%p1` or `@!%p1`: whether the instruction runs for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate register.
    pub predicate: RegisterId,
    /// Whether the instruction runs where the predicate is false.
    pub negated: bool,
}

/// Where a value goes; `None` is the sink `_`.
pub type Sink = Option<RegisterId>;

/// Something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A variable of the module, or of a function if all its calls share it.
    Variable(VariableId),
    /// A variable in `.local` or `.param` that every call has anew.
    Local(LocalId),
    /// The parameter of this number of the function or entry that the instruction is in.
    Parameter(u32),
    /// The returned value of this number of the function that the instruction is in.
    Returned(u32),
    /// A function.
    Function(FunctionId),
    /// An entry.
    Entry(EntryId),
}

/// `[%rd1+16]` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// What the offset counts from.
    pub base: AddressBase,
    /// The offset.
    ///
    /// # Units
    /// Bytes.
    pub offset: i64,
}

/// What an offset counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressBase {
    /// What the register holds, of 64 bits, or of 32 for a space that is small enough.
    Register(RegisterId),
    /// The address of a symbol. Where the instruction names no space it is the generic one.
    Symbol(Symbol),
    /// Zero: the offset is the address.
    Absolute,
}

/// What `mov` can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveSource {
    /// A value.
    Value(Source),
    /// A special register.
    Special(SpecialRegister),
    /// An address: that of the symbol in its own space, and so many bytes behind it.
    Symbol(Symbol, i64),
}
