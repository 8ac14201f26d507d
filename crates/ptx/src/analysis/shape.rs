//! How the values of a register in the threads of a block go together.

/// What is known of a block of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockShape {
    /// Its y and z are 1, so `%tid.y` and `%tid.z` are zero everywhere.
    Line,
    /// Nothing. `Affine` then counts along x only, and everything made of `%tid.y` and `%tid.z` varies.
    Any,
}

/// How the values of a register go together, in all threads that run an instruction side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// All the same.
    Uniform,
    /// One value for all, and `stride` times `%tid.x`, modulo the width of the register.
    Affine {
        /// The difference from one thread to the next; never zero.
        stride: i64,
    },
    /// Nothing is known.
    Varying,
}

/// A shape, with what else is known while shapes are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// No definition was looked at yet.
    Undefined,
    /// `base + stride * %tid.x`, uniform with a stride of zero.
    Affine {
        stride: i64,
        /// The value in every thread, if it is a constant.
        constant: Option<u64>,
        /// The most that the unsigned value is in any thread, and then nothing wrapped around on the way.
        most: Option<u64>,
    },
    Varying,
}

impl Value {
    pub(super) const UNIFORM: Self = Self::Affine { stride: 0, constant: None, most: None };

    pub(super) fn constant(value: u64) -> Self {
        Self::Affine { stride: 0, constant: Some(value), most: Some(value) }
    }

    /// One of `%tid.x` itself: a block has 1,024 threads at most.
    pub(super) const THREAD: Self = Self::Affine { stride: 1, constant: None, most: Some(1023) };

    /// A uniform value that is known to be small.
    pub(super) fn at_most(most: u64) -> Self {
        Self::Affine { stride: 0, constant: None, most: Some(most) }
    }

    pub(super) fn is_uniform(self) -> bool {
        matches!(self, Self::Affine { stride: 0, .. } | Self::Undefined)
    }

    /// What holds whichever of the two it is. A bound that grows is dropped, so that loops come to an end.
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Undefined, value) | (value, Self::Undefined) => value,
            (
                Self::Affine { stride: a, constant: first, most: bound },
                Self::Affine { stride: b, constant: second, most },
            ) if a == b => Self::Affine {
                stride: a,
                constant: first.filter(|_| first == second),
                most: bound.filter(|bound| most.is_some_and(|most| most <= *bound)),
            },
            _ => Self::Varying,
        }
    }

    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Undefined | Self::Affine { stride: 0, .. } => Shape::Uniform,
            Self::Affine { stride, .. } => Shape::Affine { stride },
            Self::Varying => Shape::Varying,
        }
    }
}
