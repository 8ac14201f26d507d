//! The simulated driver as pure state machines: machine, process, profiles, rules.
