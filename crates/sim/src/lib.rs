//! The simulated driver: model and memory behind the Driver trait, in one process or across processes.
