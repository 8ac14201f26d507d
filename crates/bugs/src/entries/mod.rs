//! The sequences, named after their entries.

mod a1;

pub(crate) use a1::play as a1;
