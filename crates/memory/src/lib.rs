//! Simulated device memory: arenas, the table by granule, checked copy and fill.
