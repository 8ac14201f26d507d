//! Variables with a place of their own.

use crate::function::Linkage;
use crate::instruction::StateSpace;
use crate::lexer::Position;
use crate::operand::Symbol;
use crate::types::ScalarType;

/// A variable of the module, or of a function if all its calls share it.
///
/// # Units
/// Bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name. Two in different functions may have the same.
    pub name: String,
    /// `Global`, `Const`, `Shared` or `Local`.
    pub space: StateSpace,
    /// Whether it is declared inside a function.
    pub in_function: bool,
    /// Who sees the name.
    pub linkage: Linkage,
    /// The type of an element.
    pub ty: ScalarType,
    /// How large it is; 0 for an array whose length is not given.
    pub size: u64,
    /// `.extern .shared … name[]`: it starts where static shared memory ends, and the launch says how long it is.
    pub dynamic: bool,
    /// What its address is a multiple of.
    pub align: u32,
    /// `.attribute(.managed)`: the host sees it at the same address.
    pub managed: bool,
    /// What it holds at first.
    pub initial: Initial,
    /// Where its name stands.
    pub at: Position,
}

/// What a variable holds at first: zero where neither says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    /// Bytes, in order and apart from each other.
    pub runs: Vec<InitialRun>,
    /// Addresses to be put over them.
    pub addresses: Vec<InitialAddress>,
}

/// Bytes side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialRun {
    /// Where the first goes in the variable.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// An address within an initial value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialAddress {
    /// Where it goes in the variable.
    pub offset: u64,
    /// How many bytes it takes.
    pub size: u32,
    /// Whose address.
    pub symbol: Symbol,
    /// How far behind it.
    pub addend: i64,
    /// `generic(…)`: the generic address rather than that in the symbol's space. A function has one address.
    pub generic: bool,
    /// How far the address is shifted to the right before its low `size` bytes are taken: `0xFF00(x)` is 8.
    pub shift: u32,
}
