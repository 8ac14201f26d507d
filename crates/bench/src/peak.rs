//! What links can do at most, so that a rate can be told as a part of it.

use peermap_report::bench::Peak;

/// What the links of a machine can do at most, in 1e9 bytes a second. What is not known is nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Peaks {
    /// The memory of the first device, reads and writes together.
    pub memory: Option<Peak>,
    /// Between the first device and the host, one way.
    pub host: Option<Peak>,
    /// Between the first device and all its peers, one way.
    pub peers: Option<Peak>,
}
