//! The multi-process workloads, written once against the Driver trait.
