//! The promises of simulated memory, tested from outside.

mod arena;
mod atomics;
mod budget;
mod model;
mod setup;
mod switches;
mod table;
mod unwritten;
mod view;
mod window;
mod words;
