//! The real driver behind the Driver trait.
