//! Descriptors, typed packets, shared memory, barriers and supervised children on Linux.
