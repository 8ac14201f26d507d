//! The barrier, and slots that are written before it and read behind it, in every order that processes may run in.
//!
//! The algorithms are the very same as in shared memory; only their words are those of a checker. [`stories`] says what
//! the processes do and what must come of it. loom plays every interleaving, and every value that a weakly ordered load
//! may see, with few processes; shuttle plays many interleavings, chosen at random, with more of them.

mod exhaustive;
mod random;
mod sound;
mod stories;
mod world;
