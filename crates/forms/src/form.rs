//! A form of an instruction.

/// The operands of a form: `%a`, `%b`, `%c` and `%d`, each 64 bits of which the form reads the low ones.
pub type Operands = [u64; 4];

/// What a result holds before the form runs: all bits of its width; a predicate is false.
pub const INITIAL: u64 = 0x5A5A_5A5A_5A5A_5A5A;

/// What a form computes: each result with zeros above its width.
#[derive(Clone, Copy, Debug)]
pub enum Reference {
    /// `%x`.
    One(fn(Operands) -> u64),
    /// `%x` and `%y`.
    Two(fn(Operands) -> [u64; 2]),
}

/// A form of an instruction, with what it must compute.
///
/// The text names operands `%a` to `%d` and results `%x` and `%y`, each followed by its width: `8`, `16`, `32`, `64`, or
/// `p` for a predicate (of an operand, whether it is odd). The registers are untyped, so they fit every type. The text
/// may use `%s` and `%t` of the same widths, `%q` and `%w` of 128 bits, and 16 bytes of global memory at `%out+16`, as it
/// likes.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The PTX; it is the name of the form too.
    pub text: &'static str,
    /// The least compute capability that has it, as ten times the major number and the minor one.
    pub sm: u32,
    /// Operands at which the instruction changes what it does, the most telling first.
    pub edges: &'static [u64],
    /// What it computes.
    pub reference: Reference,
}

impl Form {
    /// How many operands the form reads.
    #[must_use]
    pub fn operands(&self) -> usize {
        ["%a", "%b", "%c", "%d"].iter().rposition(|name| self.names(name)).map_or(0, |last| last + 1)
    }

    /// Whether the text has a register whose name starts so.
    pub(crate) fn names(&self, start: &str) -> bool {
        self.text.contains(start)
    }

    /// What `%x` and `%y` must hold; what the text does not name is zero.
    #[must_use]
    pub fn expected(&self, operands: Operands) -> [u64; 2] {
        match self.reference {
            Reference::One(one) => [one(operands), 0],
            Reference::Two(two) => two(operands),
        }
    }
}
