//! Criterion benchmarks of peermap.
