//! What a worker is to do, whatever the scenario.

use peermap_driver::ByteSize;
use serde::{Deserialize, Serialize};

use crate::check::{Verify, VerifyOn};
use crate::content::Fill;
use crate::kernels::KernelSource;

/// What a worker is to do, whatever the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) size: ByteSize,
    pub(crate) fill: Fill,
    pub(crate) verify: Verify,
    pub(crate) verify_on: VerifyOn,
    pub(crate) kernels: KernelSource,
    pub(crate) measure: bool,
    pub(crate) verbose: bool,
}
